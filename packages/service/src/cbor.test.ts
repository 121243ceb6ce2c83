import { decode, encode } from "cborg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { path, serveRoutes } from "../test-support/routes.ts";
import { ask, user } from "../test-support/serve.ts";
import { maxBodyBytesOf } from "./body.ts";

let served: Awaited<ReturnType<typeof serveRoutes>>;
beforeAll(async () => {
  served = await serveRoutes();
});
afterAll(() => served.http.close(0));

const accept = { accept: "application/cbor" };

describe("an answer in CBOR", () => {
  it.each([
    ["an object", path],
    ["a text that is JSON already", `${path}/deploymentBase/11?c=7`],
    ["a list", `${path}/artifacts`],
    ["an error", `${path}/deploymentBase/99`],
    ["a bad id", `${path}/deploymentBase/abc`],
  ])("has for %s the same content as JSON, with its length", async (_what, url) => {
    const plain = await ask(served, url);
    const answer = await ask(served, url, { headers: accept });
    expect([answer.status, answer.headers["content-type"]]).toEqual([plain.status, "application/cbor"]);
    expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
    expect(decode(answer.bytes)).toEqual(plain.json);
  });

  it("has a tag of its own, and is 304 for it", async () => {
    const first = await ask(served, path, { headers: accept });
    const etag = first.headers["etag"] as string;
    expect(etag).toMatch(/^"0[0-9a-f]{32}"$/);
    expect(etag).not.toBe((await ask(served, path)).headers["etag"]);
    const again = await ask(served, path, { headers: { ...accept, "if-none-match": etag } });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    const head = await ask(served, path, { method: "HEAD", headers: accept });
    expect([head.status, head.headers["content-length"]]).toEqual([200, first.headers["content-length"]]);
  });

  it("is not offered on the management interface", async () => {
    const answer = await ask(served, "/api/mgmt/v1/targets/d1", { headers: accept, identity: user("READ_TARGET") });
    expect([answer.status, answer.headers["content-type"]]).toEqual([406, "application/json;charset=UTF-8"]);
  });
});

describe("a request body in CBOR", () => {
  const post = (body: Uint8Array, url = `${path}/deploymentBase/11/feedback`) =>
    ask(served, url, { method: "POST", body: Buffer.from(body), headers: { "content-type": "application/cbor" } });
  const text = (name: string) => Buffer.concat([Buffer.from([0x60 + name.length]), Buffer.from(name)]);
  /** Makes `{"status": "closed", "more": …}`. */
  const withMore = (...more: number[]) =>
    Buffer.concat([Buffer.from([0xa2]), text("status"), text("closed"), text("more"), Buffer.from(more)]);

  it("is read like JSON", async () => {
    expect((await post(encode({ status: "closed", extra: { a: [1] } }))).status).toBe(200);
    expect((await post(encode({ status: "CLOSED" }))).status).toBe(400);
    expect((await post(encode({ status: "closed", note: "x".repeat(maxBodyBytesOf({ interface: "device" }, {})) }))).status).toBe(413);
    expect((await post(encode({ a: 1 }), `${path}/optional`)).headers["x-seen"]).toBe('{"a":1}');
    expect((await post(Buffer.alloc(0), `${path}/optional`)).headers["x-seen"]).toBe("null");
  });

  it.each([
    ["no byte", Buffer.alloc(0)],
    ["half a map", encode({ status: "closed" }).subarray(0, -1)],
    ["two values", Buffer.concat([encode({ status: "closed" }), encode(1)])],
    ["JSON", Buffer.from('{"status":"closed"}')],
    ["a list", encode(["closed"])],
    ["keys that are numbers", Buffer.concat([Buffer.from([0xa2]), text("status"), text("closed"), Buffer.from([1, 1])])],
    ["bytes", withMore(0x41, 0x00)],
    ["a tag", withMore(0xc0, 0x00)],
    ["a number that is none", withMore(0xf9, 0x7e, 0x00)],
    ["a number beyond a double", withMore(0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
    ["a list that says it had 2^32 members", withMore(0x9a, 0xff, 0xff, 0xff, 0xff)],
    ["a text that says it had 2^53 bytes", withMore(0x7b, 0x00, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
    ["a million lists in each other", Buffer.alloc(1_000_000, 0x81)],
    ["a break alone", Buffer.from([0xff])],
  ])("%s is 400", async (_what, body) => {
    const answer = await post(body);
    expect([answer.status, answer.json]).toEqual([400, expect.objectContaining({ message: "The given request body is not well formed" })]);
  });

  it("is 415 for the management interface", async () => {
    const headers = { "content-type": "application/cbor" };
    const body = Buffer.from(encode({}));
    const answer = await ask(served, "/api/mgmt/v1/targets/d1", { method: "PUT", body, headers, identity: user("READ_TARGET") });
    expect(answer.status).toBe(415);
  });
});

describe("a deep body", () => {
  const post = (body: string | Buffer, type: string) =>
    ask(served, `${path}/deploymentBase/11/feedback`, { method: "POST", body, headers: { "content-type": type } });
  const nested = (depth: number) => `{"status":"closed","more":${"[".repeat(depth)}${"]".repeat(depth)}}`;

  it.each([
    [60, 200],
    [70, 400],
    [500_000, 400],
  ])("of %i lists in each other is %i, in JSON and in CBOR", async (depth, status) => {
    expect((await post(nested(depth), "application/json")).status).toBe(status);
    if (depth < 1_000) expect((await post(Buffer.from(encode(JSON.parse(nested(depth)))), "application/cbor")).status).toBe(status);
  });
});
