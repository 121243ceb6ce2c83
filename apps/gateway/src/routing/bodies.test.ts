import { afterEach, beforeEach, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { chunkOf, type Edge, noRates, openEdge, type RawClient, rawClient } from "./edge.fixture.ts";

const mebibyte = 1024 * 1024;
let edge: Edge;
let clients: RawClient[];

beforeEach(async () => {
  edge = await openEdge();
  clients = [];
});
afterEach(() => {
  for (const { socket } of clients) socket.destroy();
  edge.close();
});

const client = (): RawClient => {
  const made = rawClient(edge.port);
  clients.push(made);
  return made;
};
const from = (address: string, authorization?: string) => ({
  "x-forwarded-for": address,
  ...(authorization === undefined ? undefined : { authorization }),
});
const chunked = { "transfer-encoding": "chunked" };
const attributes = (device: string) => `PUT /T/controller/v1/${device}/configData`;

/** Makes one request and returns the status. */
async function ask(line: string, headers: Record<string, string>, body = ""): Promise<number | undefined> {
  const one = client();
  one.send({ line, headers: { ...headers, connection: "close", "content-length": String(body.length) }, body });
  await one.closed;
  return one.statuses().at(-1);
}
/** Makes a token request and a report of others, from another address and of another tenant. */
const bystanders = async () => [
  await ask("POST /oauth2/token", from("198.51.100.7"), "grant_type=client_credentials"),
  await ask(attributes("other"), from("198.51.100.7", "2 other"), "{}"),
  await ask("GET /T/controller/v1/other", from("198.51.100.7", "2 other")),
];

test("unfinished forms of unauthenticated clients are cut at their limit and take nothing from others", async () => {
  const attackers = Array.from({ length: 257 }, () => client());
  for (const one of attackers) one.send({ line: "POST /oauth2/token", headers: { ...from("203.0.113.1"), ...chunked } });
  // The maximum of concurrent bodies is reached, and these wait for theirs.
  await expect.poll(() => attackers.filter((one) => one.statuses()[0] === 429).length).toBe(257 - 32);
  expect(await bystanders()).toEqual([200, 200, 200]);
  for (const { socket } of attackers) for (let n = 0; n < 16; n += 1) socket.write(chunkOf(mebibyte / 16));
  await expect.poll(() => attackers.filter((one) => one.statuses().length > 0).length).toBe(257);
  expect(new Set(attackers.flatMap((one) => one.statuses()))).toEqual(new Set([413, 429]));
  expect(await bystanders()).toEqual([200, 200, 200]);
});

test("the first byte beyond the limit ends a form of unknown length, and a declared length ends it at once", async () => {
  const one = client();
  one.send({ line: "POST /oauth2/token", headers: { ...from("203.0.113.1"), ...chunked }, body: chunkOf(64 * 1024) });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(one.statuses()).toEqual([]);
  one.socket.write(chunkOf(1));
  await expect.poll(() => one.statuses()).toEqual([413]);
  const other = client();
  other.send({ line: "POST /oauth2/token", headers: { ...from("203.0.113.1"), "content-length": String(64 * 1024 + 1) } });
  await expect.poll(() => other.statuses()).toEqual([413]);
  expect(edge.passed).toEqual([]);
});

test("one address has a sixteenth of the memory for bodies, as any principal; others share the remainder", async () => {
  const attackers = Array.from({ length: 20 }, (_, n) => {
    const one = client();
    one.send({
      line: attributes(`d${n}`),
      headers: { ...from("203.0.113.1", `${10 + n} d${n}`), ...chunked },
      body: chunkOf(mebibyte - 16),
    });
    return one;
  });
  const refused = () => attackers.flatMap((one) => one.statuses());
  await expect.poll(() => refused().length).toBe(4);
  expect(new Set(refused())).toEqual(new Set([429]));
  expect(attackers.find((one) => one.statuses().length > 0)?.text()).toMatch(/retry-after: 1\r\n/i);
  expect(await ask(attributes("near"), from("203.0.113.1", "2 near"), "x".repeat(mebibyte / 2))).toBe(429);
  expect(await bystanders()).toEqual([200, 200, 200]);
});

test("a tenant has a sixteenth from all addresses, and one device a quarter of that", async () => {
  const send = (address: string, authorization: string, device: string) => {
    const one = client();
    one.send({ line: attributes(device), headers: { ...from(address, authorization), ...chunked }, body: chunkOf(mebibyte - 16) });
    return one;
  };
  const greedy = Array.from({ length: 6 }, (_, n) => send(`203.0.113.${n}`, "1 greedy", "greedy"));
  await expect.poll(() => greedy.flatMap((one) => one.statuses())).toEqual([429, 429]);
  expect(await ask(attributes("near"), from("203.0.113.99", "1 near"), "x".repeat(mebibyte))).toBe(200);
  const all = Array.from({ length: 14 }, (_, n) => send(`203.0.113.${n + 10}`, `1 d${n}`, `d${n}`));
  await expect.poll(() => all.flatMap((one) => one.statuses())).toEqual([429, 429]);
  expect(await bystanders()).toEqual([200, 200, 200]);
});

test("a list may be 8 MiB long unless it is compressed, an object 1 MiB; a user has room for one such list, a tenant for two", async () => {
  const list = "POST /api/mgmt/v1/targets";
  const declared = (bytes: number, more: object = {}) => ({ ...from("203.0.113.1", "1 ann"), "content-length": String(bytes), ...more });
  for (const headers of [declared(8 * mebibyte + 1), declared(mebibyte + 1, { "content-encoding": "gzip" })]) {
    const one = client();
    one.send({ line: list, headers });
    await expect.poll(() => one.statuses()).toEqual([413]);
  }
  const object = client();
  object.send({ line: "POST /api/mgmt/v1/targetfilters", headers: declared(mebibyte + 1) });
  await expect.poll(() => object.statuses()).toEqual([413]);
  expect(await ask(list, from("203.0.113.1", "1 ann"), "x".repeat(8 * mebibyte))).toBe(200);
  const send = (name: string, address: string) => {
    const one = client();
    one.send({ line: list, headers: { ...from(address, `1 ${name}`), ...chunked }, body: chunkOf(8 * mebibyte - 16) });
    return one;
  };
  const open = [send("ann", "203.0.113.1"), send("ann", "203.0.113.2"), send("bob", "203.0.113.3"), send("eve", "203.0.113.4")];
  await expect.poll(() => open.map((one) => one.statuses().join()).sort()).toEqual(["", "", "429", "429"]);
  expect(await bystanders()).toEqual([200, 200, 200]);
});

test("an ended request releases its share, even behind a request without an answer yet", async () => {
  const held = edge.deps.forwardDevice;
  edge.deps.forwardDevice = () => undefined;
  const body = "x".repeat(mebibyte - 16);
  const headers = { ...from("203.0.113.1", "1 d"), "content-length": String(body.length) };
  for (let round = 0; round < 3; round += 1) {
    const one = client();
    // The requests are pipelined, so only the first of them can be answered.
    for (let n = 0; n < 4; n += 1) one.send({ line: attributes("d"), headers, body });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(one.statuses()).toEqual([]);
    one.socket.destroy();
    await one.closed;
  }
  edge.deps.forwardDevice = held;
  await expect.poll(() => ask(attributes("d"), from("203.0.113.1", "1 d"), body)).toBe(200);
});

test("a body that its route does not need is short or denied", async () => {
  const poll = "GET /T/controller/v1/d";
  expect(await ask(poll, from("203.0.113.1", "1 d"), "{}")).toBe(200);
  expect(await ask(poll, from("203.0.113.1", "1 d"), "x".repeat(64 * 1024 + 1))).toBe(413);
  const file = "GET /T/controller/v1/d/softwaremodules/1/artifacts/f";
  expect(await ask(file, from("203.0.113.1", "1 d"), "x".repeat(64 * 1024 + 1))).toBe(413);
});

test("a client that sends Expect: 100-continue gets the 100 when its body is read, and not when it is denied", async () => {
  const expecting = { expect: "100-continue" };
  const refused: [string, Record<string, string>, number][] = [
    ["POST /oauth2/token", { "content-length": "70000" }, 413],
    [attributes("d"), { "content-length": "5", authorization: "wrong" }, 401],
    ["POST /nothing/at/all/here", { "content-length": "5" }, 404],
    ["POST /livez", { "content-length": "5" }, 404],
  ];
  for (const [line, headers, status] of refused) {
    const one = client();
    one.send({ line, headers: { ...headers, ...expecting } });
    await one.closed;
    expect([line, one.statuses()]).toEqual([line, [status]]);
    expect(one.text()).toMatch(/connection: close\r\n/i);
  }
  const one = client();
  one.send({ line: attributes("d"), headers: { ...from("203.0.113.1", "1 d"), ...expecting, "content-length": "2" } });
  await expect.poll(() => one.statuses()).toEqual([100]);
  one.socket.write("{}");
  await expect.poll(() => one.statuses()).toEqual([100, 200]);
  // The connection serves the next request.
  one.send({ line: "GET /T/controller/v1/d", headers: from("203.0.113.1", "1 d") });
  await expect.poll(() => one.statuses()).toEqual([100, 200, 200]);
});

test("a client that sent Expect, and closes its connection, has it closed as any other", async () => {
  const one = client();
  const headers = { ...from("203.0.113.1", "1 d"), expect: "100-continue", connection: "close", "content-length": "2" };
  one.send({ line: attributes("d"), headers });
  await expect.poll(() => one.statuses()).toEqual([100]);
  one.socket.write("{}");
  await one.closed;
  expect(one.statuses()).toEqual([100, 200]);
  expect(one.text()).toMatch(/connection: close\r\n/i);
});

test("a device has a limit of bytes in four seconds, by declared length or as they come; its neighbour does not notice", async () => {
  const bytes = { device: 256 * 1024, tenant: 1024 * mebibyte };
  edge.deps.rates = new RateLimits({ ...noRates, bytes, exempt: new AddressList("198.51.100.1") });
  const now = Date.now();
  edge.deps.now = () => now;
  const report = (device: string, length: number, address = "203.0.113.1") =>
    ask(attributes(device), from(address, `1 ${device}`), "x".repeat(length));
  expect(await report("busy", mebibyte)).toBe(200);
  expect(await report("busy", 1)).toBe(429);
  expect(await report("busy", 1, "203.0.113.9")).toBe(429);
  expect(await report("quiet", 1_000)).toBe(200);
  expect(await ask("GET /T/controller/v1/busy", from("203.0.113.1", "1 busy"))).toBe(200);
  // A body of undeclared length counts as it arrives.
  const one = client();
  one.send({ line: attributes("slow"), headers: { ...from("203.0.113.1", "1 slow"), ...chunked }, body: chunkOf(mebibyte / 2) });
  expect(await report("slow", mebibyte / 2 - 1_000)).toBe(200);
  one.socket.write(chunkOf(2_000));
  await expect.poll(() => one.statuses()).toEqual([429]);
  for (let n = 0; n < 3; n += 1) expect(await report("busy", mebibyte, "198.51.100.1")).toBe(200);
  edge.deps.now = () => now + 4_000;
  expect(await report("busy", mebibyte)).toBe(200);
});

test("all devices of a tenant have a limit of bytes too, and another tenant has its own", async () => {
  const bytes = { device: 0, tenant: mebibyte / 2 };
  edge.deps.rates = new RateLimits({ ...noRates, bytes, exempt: new AddressList("none") });
  const now = Date.now();
  edge.deps.now = () => now;
  const report = (tenant: number, device: string) =>
    ask(attributes(device), from("203.0.113.1", `${tenant} ${device}`), "x".repeat(mebibyte));
  expect([await report(1, "a"), await report(1, "b"), await report(1, "c"), await report(2, "d")]).toEqual([200, 200, 429, 200]);
});
