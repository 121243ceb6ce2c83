import { routeTable as r } from "@harrier/contracts";
import { expect, test } from "vitest";
import { createClient } from "./index.ts";

/** Answers every request with the same text, and keeps what was asked. */
function answering(...answers: { status?: number; body?: string; headers?: Record<string, string> }[]) {
  const asked: { url: string; init: RequestInit }[] = [];
  const fetcher = (async (url: string, init: RequestInit) => {
    asked.push({ url, init });
    const { status = 200, body = "", headers = {} } = answers[Math.min(asked.length, answers.length) - 1] ?? {};
    return new Response(status === 204 ? null : body, { status, headers });
  }) as unknown as typeof fetch;
  return { asked, client: createClient({ baseUrl: "http://server/", fetch: fetcher, credentials: { token: "t" } }) };
}

test("a call is typed by its row: what is wrong does not compile", async () => {
  const { client } = answering({ body: "{}" });
  // biome-ignore format: each line holds one error
  const wrong = [
    // @ts-expect-error a name is a text
    () => client.call(r.rollouts.create, { body: { name: 5 } }),
    // @ts-expect-error there is no such query parameter
    () => client.call(r.targets.list, { query: { limt: 5 } }),
    // @ts-expect-error the path needs the target
    () => client.call(r.targets.get),
    // @ts-expect-error the path needs the target by this name
    () => client.call(r.targets.get, { params: { controllerId: "a" } }),
    // @ts-expect-error the answer has no such member
    async () => (await client.call(r.targets.get, { params: { targetId: "a" } })).nmae,
  ];
  expect(wrong).toHaveLength(5);
  const page = await client.call(r.targets.list, { query: { limit: 5, total: "none" } });
  const names: string[] | undefined = page.content?.map((target) => target.controllerId);
  expect(names).toBeUndefined();
});

test("path parameters and queries are encoded, a missing one is the caller's error, and the credential is a header", async () => {
  const { client, asked } = answering({ body: "{}" });
  await client.call(r.targets.get, { params: { targetId: "a/b c?" } });
  await client.call(r.targets.list, { query: { q: "name==a&b", sort: undefined } });
  await expect(client.call(r.targets.get, { params: { targetId: "" } })).rejects.toThrow("targets.get needs the parameter targetId");
  expect(asked.map(({ url }) => url)).toEqual([
    "http://server/api/mgmt/v1/targets/a%2Fb%20c%3F",
    "http://server/api/mgmt/v1/targets?q=name%3D%3Da%26b",
  ]);
  expect(asked[0]?.init.headers).toMatchObject({ authorization: "Bearer t" });
});

test("429 with Retry-After is repeated, without it or with a long one it ends; a write is not repeated when its connection breaks", async () => {
  const busy = { status: 429, body: '{"message":"slow down"}', headers: { "retry-after": "0" } };
  const later = { status: 429, body: "{}", headers: { "retry-after": "3600" } };
  const repeated = answering(busy, busy, { body: "{}" });
  await repeated.client.call(r.userinfo.get);
  expect(repeated.asked).toHaveLength(3);
  const ended = answering(later);
  await expect(ended.client.call(r.userinfo.get)).rejects.toMatchObject({ status: 429, retryAfter: 3600 });
  expect(ended.asked).toHaveLength(1);
  let tries = 0;
  const broken = createClient({
    baseUrl: "http://server",
    fetch: (async () => Promise.reject(new TypeError(`${++tries}`))) as typeof fetch,
  });
  await expect(broken.call(r.rollouts.start, { params: { rolloutId: 1 } })).rejects.toThrow("http://server cannot be reached");
  expect(tries).toBe(1);
});

test("a change names the revision that was read", async () => {
  const { client, asked } = answering({ body: '{"name":"a"}', headers: { etag: '"0a"' } });
  const { body, tag } = await client.tagged(r.targets.get, { params: { targetId: "a" } });
  expect([body.name, tag]).toEqual(["a", '"0a"']);
  await client.call(r.targets.update, { params: { targetId: "a" }, body: { name: "b" }, ifMatch: tag });
  await client.call(r.targets.update, { params: { targetId: "a" }, body: { name: "b" } });
  expect(asked.map(({ init }) => (init.headers as Record<string, string>)["if-match"])).toEqual([undefined, '"0a"', undefined]);
});
