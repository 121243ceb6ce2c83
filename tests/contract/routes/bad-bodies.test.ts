import { gzipSync } from "node:zlib";
import { isArrayBody, isStreamed } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { mutations } from "../support/bad-values.ts";
import { ask, type CallOptions, dialects, type ErrorBody } from "../support/call.ts";
import { createFixture, type Fixture, snapshot } from "../support/tenant.fixture.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { forEach } from "../support/wait.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

const json = { "content-type": "application/json" };
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const unreadable = [
  "{",
  "xyz",
  "",
  "[}",
  '{"a":}',
  "\u0000",
  "null",
  '"x"',
  "5",
  "true",
  "[".repeat(100_000),
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
];
const code = /^hawkbit\.server\.error\.(rest\.body\.notReadable|repo\.constraintViolation)$/;

describe.each(dialects)("bad bodies to every route, %s", (dialect) => {
  inOwnTenant(dialect, 2);
  let fixture: Fixture;
  let requests: Record<string, ValidRequest>;
  let before: unknown[];
  beforeAll(async () => {
    fixture = await createFixture(dialect, "action.cleanup.actionExpiry");
    requests = validRequests(fixture);
    before = await snapshot(fixture);
  });
  const request = async (id: string): Promise<CallOptions> => (requests[id] as ValidRequest)();
  const withBody = routesOn(dialect).filter(([, route]) => route.body !== undefined && !isStreamed(route));

  it.each(withBody)("%s with an unreadable body", async (id, route, surface) => {
    const options = await request(id);
    const send = (body: string, headers: Record<string, string> = json) => ask<ErrorBody>(route, surface, { ...options, body, headers });
    const none = route.bodyKind === "optional-json" ? unreadable.filter((body) => body !== "") : unreadable;
    await forEach(none, async (body) => {
      const answer = await send(body);
      expect([answer.status, answer.json?.errorCode], body.slice(0, 40)).toEqual([400, "hawkbit.server.error.rest.body.notReadable"]);
    });
    await forEach(["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/cbor", ""], async (type) => {
      // Devices may send CBOR, and this body is none.
      const expected = surface === "device" && type === "application/cbor" ? 400 : 415;
      expect((await send(JSON.stringify(options.body), { "content-type": type })).status, type).toBe(expected);
    });
    // A list may be longer than an object, if it is not compressed.
    const tooLong = route.body !== undefined && isArrayBody(route.body) ? 9_000_000 : 2_000_000;
    expect((await send(`"${"x".repeat(tooLong)}"`)).status).toBe(413);
    const packed = await ask(route, surface, {
      ...options,
      body: gzipSync(`["${"x".repeat(2_000_000)}"]`),
      headers: { ...json, "content-encoding": "gzip" },
    });
    expect(packed.status).toBe(413);
  });

  it.each(withBody)("%s with a body of the largest size full of empty objects: denied with a short answer", async (id, route, surface) => {
    const options = await request(id);
    const send = (body: string) => ask<ErrorBody>(route, surface, { ...options, body, headers: json });
    const quota = [surface === "rest" ? 429 : 403, "hawkbit.server.error.quota.tooManyEntries"];
    const answer = await send(`[${Array(300_000).fill("{}").join(",")}]`);
    const refused = [answer.status, answer.json?.errorCode];
    expect([quota, expect.arrayContaining([400, expect.stringMatching(code)])], String(answer.status)).toContainEqual(refused);
    expect(answer.text.length).toBeLessThan(4_096);
  });

  // Bodies are read alike in both dialects.
  const mutated = dialect === "spec" ? withBody : [];
  const accepts = (route: (typeof withBody)[number][1], body: unknown): boolean =>
    route.body?.safeParse(JSON.parse(JSON.stringify(body))).success === true;

  it.each(mutated)("%s with members of the wrong kind: 400", async (id, route, surface) => {
    const options = await request(id);
    const bodies = [...mutations(options.body)].filter((body) => !accepts(route, body));
    expect(bodies.length).toBeGreaterThan(10);
    await forEach(bodies, async (body) => {
      const answer = await ask<ErrorBody>(route, surface, { ...options, body: JSON.stringify(body) });
      expect([answer.status, answer.json?.errorCode], JSON.stringify(body).slice(0, 300)).toEqual([400, expect.stringMatching(code)]);
    });
  });

  it("none of these requests has changed anything", async () => {
    expect(await snapshot(fixture)).toEqual(before);
  });

  it.each(mutated)("%s with members that are odd, but well formed: any answer except a 5xx", async (id, route, surface) => {
    const options = await request(id);
    const bodies = [...mutations(options.body)].filter((body) => accepts(route, body)).map((body) => JSON.stringify(body));
    await forEach([...bodies, deep(500), deep(5_000)], async (body) => {
      const { status, text } = await ask(route, surface, { ...options, body, headers: json });
      expect(status, `${body.slice(0, 300)} answered ${text}`).toBeLessThan(500);
    });
  });
});
