import { randomBytes } from "node:crypto";
import { type ApiError, createClient, multipartOf, type ServerEvent } from "@harrier/client";
import { routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, test } from "vitest";
import { sha256, unique } from "../support/build.ts";
import { baseUrl, credentials } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";

const header = (value: string) => {
  const [user = "", ...password] = Buffer.from(value.slice("Basic ".length), "base64").toString().split(":");
  return { user, password: password.join(":") };
};

describe("the typed client against the service (contract console.md §2)", () => {
  inOwnTenant();
  let client: ReturnType<typeof createClient>;
  beforeAll(() => {
    client = createClient({ baseUrl, credentials: header(credentials.admin) });
  });

  test("a list is walked by cursor, page by page, and one without a cursor by offset; every item comes once", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `walk-${String(n).padStart(2, "0")}`);
    await client.call(r.targets.create, { body: names.map((controllerId) => ({ controllerId })) });
    await client.call(r.targetTags.create, { body: names.map((name) => ({ name })) });
    const targets: string[] = [];
    let pages = 0;
    for await (const page of client.pages(r.targets.list, { query: { limit: 5, sort: "controllerid:ASC" } })) {
      pages++;
      targets.push(...page.content.map(({ controllerId }) => controllerId));
    }
    expect(targets).toEqual(names);
    expect(pages).toBe(3);
    const tags: string[] = [];
    for await (const tag of client.items(r.targetTags.list, { query: { limit: 5, sort: "name:ASC" } })) tags.push(tag.name);
    expect(tags).toEqual(names);
  });

  test("a refusal is the row of the error table, with the id of the request", async () => {
    const missing = (await client.call(r.targets.get, { params: { targetId: "nobody" } }).catch((error: unknown) => error)) as ApiError;
    expect(missing).toMatchObject({ name: "ApiError", status: 404, code: "entityNotFound", operation: "targets.get" });
    expect(missing.requestId).toEqual(expect.any(String));
    const foreign = createClient({ baseUrl, credentials: { user: "nobody", password: "wrong" } });
    await expect(foreign.call(r.userinfo.get)).rejects.toMatchObject({ status: 401 });
  });

  test("an artifact is uploaded from a stream and from a Blob, and downloaded as a stream", async () => {
    const [module] = await client.call(r.softwareModules.create, { body: [{ name: unique("m"), version: "1", type: "os" }] });
    const params = { softwareModuleId: module?.id as number };
    const bytes = randomBytes(300_000);
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 50_000) controller.enqueue(new Uint8Array(bytes.subarray(at, at + 50_000)));
        controller.close();
      },
    });
    const streamed = await client.upload(r.artifacts.upload, { params, upload: multipartOf("a b.bin", pieces) });
    expect(streamed).toMatchObject({ providedFilename: "a b.bin", size: bytes.length, hashes: { sha256: sha256(bytes) } });
    const query = { sha256sum: sha256(bytes) };
    await client.upload(r.artifacts.upload, { params, query, upload: multipartOf("c.bin", new Blob([new Uint8Array(bytes)])) });
    const answer = await client.download(r.artifacts.download, { params: { ...params, artifactId: streamed.id } });
    expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(bytes));
  });

  test("events arrive as they happen, and the walk ends with its signal", async () => {
    const ended = new AbortController();
    const seen: ServerEvent[] = [];
    const { next } = await client.call(r.events.list);
    const following = (async () => {
      for await (const event of client.events(r.events.stream, { query: { after: next }, signal: ended.signal })) {
        seen.push(event);
        ended.abort();
      }
    })();
    await client.call(r.targets.create, { body: [{ controllerId: unique("seen") }] });
    await following;
    expect(seen[0]).toMatchObject({ event: "event", data: { specversion: "1.0" } });
    expect(seen[0]?.id).toEqual(expect.any(String));
  });

  test("an OAuth client signs in by the token endpoint", async () => {
    const made = await client.call(r.oauth2Clients.create, { body: [{ name: unique("ci"), scopes: ["management-full-access"] }] });
    const one = made[0] as (typeof made)[number];
    const program = createClient({ baseUrl, credentials: { clientId: one.clientId, clientSecret: one.clientSecret } });
    expect((await program.call(r.userinfo.get)).kind).toBe("client");
    const wrong = createClient({ baseUrl, credentials: { clientId: one.clientId, clientSecret: "wrong" } });
    await expect(wrong.call(r.userinfo.get)).rejects.toMatchObject({ status: 401 });
  });
});
