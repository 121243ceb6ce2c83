import { afterEach, beforeEach, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { InFlight } from "../limits/in-flight.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { ConnectionLimits } from "../listen/connection-limits.ts";
import { chunkOf, type Edge, noRates, openEdge, type RawClient, rawClient } from "./edge.fixture.ts";
import type { ForwardedRequest } from "./forward.ts";

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
const targets = "GET /api/mgmt/v1/targets";
const user = (name: string, more: Record<string, string> = {}) => ({ "x-forwarded-for": "203.0.113.1", authorization: name, ...more });

async function ask(line: string, headers: Record<string, string>): Promise<number | undefined> {
  const one = client();
  one.send({ line, headers: { ...headers, connection: "close" } });
  await one.closed;
  return one.statuses().at(-1);
}

test.each([
  "POST /nothing/here/at/all",
  "DELETE /T/controller/v1/d",
  "POST /T/controller/v1/d%zz",
  "GET /oauth2/jwks",
  "POST /oauth2/jwks",
  "POST /livez",
  "GET /livez",
  "POST /",
  "GET /api/docs/",
  "GET /api/mgmt/v1/targets",
])("%s: a client that is answered and goes on sending is cut off", async (line) => {
  const one = client();
  one.send({ line, headers: { "transfer-encoding": "chunked" } });
  const sending = setInterval(() => one.socket.write(chunkOf(5)), 20);
  try {
    // A body that is read before the answer is denied beyond its length or its time.
    if (line.includes("jwks")) one.socket.write(chunkOf(70_000));
    await expect.poll(() => one.statuses().length, { timeout: 3_000 }).toBe(1);
    await Promise.race([one.closed, new Promise((_, reject) => setTimeout(() => reject(new Error("still open")), 3_000))]);
  } finally {
    clearInterval(sending);
  }
});

test("a request that two readers could understand differently is denied, and its connection closed", async () => {
  const wrong: [string, Record<string, string>, string][] = [
    ["GET /T/controller/v1/d", { Host: "other" }, ""],
    ["GET /livez", { Host: "h" }, ""],
    ["PUT /T/controller/v1/d/configData", { "transfer-encoding": "gzip, chunked" }, "2\r\n{}\r\n0\r\n\r\n"],
    ["PUT /T/controller/v1/d/configData", { "transfer-encoding": "chunked, chunked" }, "2\r\n{}\r\n0\r\n\r\n"],
  ];
  for (const [line, headers, body] of wrong) {
    const one = client();
    one.send({ line, headers: { ...user("1 d"), ...headers }, body });
    await one.closed;
    expect([line, one.statuses()]).toEqual([line, [400]]);
  }
  expect(edge.passed).toEqual([]);
  expect(await ask("GET /T/controller/v1/d", user("1 d"))).toBe(200);
});

test("a target in a form that no service could be asked in is 400, however deep it is", async () => {
  for (const target of ["*/T/controller/v1/d", "a:b/T/controller/v1/d", `${"a:".repeat(6_000)}/T/controller/v1/d`]) {
    const one = client();
    one.send({ line: `GET ${target}`, headers: user("1 d") });
    await expect.poll(() => one.statuses()).toEqual([400]);
    expect([target, edge.passed]).toEqual([target, []]);
    one.socket.destroy();
  }
});

test("too long a header is 431 and not a reset, and what is no HTTP is 400", async () => {
  const one = client();
  one.send({ line: "GET /T/controller/v1/d", headers: { "x-long": "x".repeat(70_000) } });
  await one.closed;
  expect(one.statuses()).toEqual([431]);
  const other = client();
  other.socket.write("hello\r\n\r\n");
  await other.closed;
  expect(other.statuses()).toEqual([400]);
});

test("the concurrent requests of a tenant to the management interface are limited, without effect on others", async () => {
  const waiting: (() => void)[] = [];
  const { forward } = edge.deps;
  edge.deps.inFlight = new InFlight(3);
  edge.deps.forward = (req: ForwardedRequest, res) => {
    if (req.headers["x-slow"] === undefined) return forward(req, res);
    waiting.push(() => forward(req, res));
  };
  const slow = Array.from({ length: 6 }, () => {
    const one = client();
    one.send({ line: targets, headers: user("1 greedy", { "x-slow": "1" }) });
    return one;
  });
  await expect.poll(() => slow.flatMap((one) => one.statuses())).toEqual([429, 429, 429]);
  expect(slow.find((one) => one.statuses().length > 0)?.text()).toMatch(/retry-after: 1\r\n/i);
  expect(waiting).toHaveLength(3);
  expect(await ask(targets, user("1 other"))).toBe(429);
  expect([await ask(targets, user("2 somebody")), await ask("GET /T/controller/v1/d", user("1 d"))]).toEqual([200, 200]);
  // Uploads and downloads have places of their own.
  expect(await ask("GET /api/mgmt/v1/softwaremodules/1/artifacts/1/download", user("1 other"))).not.toBe(429);
  waiting.shift()?.();
  await expect.poll(() => ask(targets, user("1 other"))).toBe(200);
  // A client that hangs up releases its place.
  for (const { socket } of slow) socket.destroy();
  await expect.poll(async () => (await Promise.all([0, 1, 2].map(() => ask(targets, user("1 other"))))).join()).toBe("200,200,200");
});

test("a change whose client hangs up keeps its place until its deadline, because it goes on", async () => {
  const { forward, now } = edge.deps;
  edge.deps.inFlight = new InFlight(3);
  let begun = 0;
  edge.deps.forward = (req: ForwardedRequest, res) => {
    if (req.headers["x-slow"] === undefined) return forward(req, res);
    begun += 1;
  };
  const hangUp = async (first: () => void = () => undefined) => {
    const before = begun;
    const slow = Array.from({ length: 3 }, () => {
      const one = client();
      one.send({ line: "POST /api/mgmt/v1/targets", headers: user("1 hasty", { "x-slow": "1" }) });
      return one;
    });
    await expect.poll(() => begun - before).toBe(3);
    first();
    for (const { socket } of slow) socket.destroy();
    await Promise.all(slow.map((one) => one.closed));
  };
  await hangUp();
  expect([await ask(targets, user("1 other")), await ask(targets, user("2 somebody"))]).toEqual([429, 200]);
  edge.deps.inFlight = new InFlight(3);
  await hangUp(() => {
    edge.deps.now = () => now() + 30_000; // Its deadline has passed when it hangs up.
  });
  await expect.poll(() => ask(targets, user("1 other"))).toBe(200);
  edge.deps.now = now;
});

test("concurrent downloads are limited by device, or by address for anonymous downloads, without effect on others", async () => {
  const waiting: (() => void)[] = [];
  const { forwardTransfer } = edge.deps;
  edge.deps.downloads = new InFlight(3);
  edge.deps.forwardTransfer = (req: ForwardedRequest, res) => {
    if (req.headers["x-slow"] === undefined) return forwardTransfer(req, res);
    waiting.push(() => forwardTransfer(req, res));
  };
  const file = "GET /T/controller/v1/d/softwaremodules/1/artifacts/f";
  const begin = (name: string, address: string) => {
    const one = client();
    one.send({ line: file, headers: user(name, { "x-slow": "1", "x-forwarded-for": address }) });
    return one;
  };
  const greedy = [1, 2, 3, 4, 5].map((n) => begin("1 d", `203.0.113.${n}`));
  await expect.poll(() => greedy.flatMap((one) => one.statuses())).toEqual([429, 429]);
  expect(greedy.find((one) => one.statuses().length > 0)?.text()).toMatch(/retry-after: 1\r\n/i);
  const nobody = [1, 2, 3, 4].map(() => begin("1 anonymous", "198.51.100.7"));
  await expect.poll(() => nobody.flatMap((one) => one.statuses())).toEqual([429]);
  expect(waiting).toHaveLength(6);
  const from = (name: string, address: string) =>
    ask(file.replace("/d/", name === "1 e" ? "/e/" : "/d/"), user(name, { "x-forwarded-for": address }));
  expect([await from("1 d", "203.0.113.9"), await from("1 anonymous", "198.51.100.7")]).toEqual([429, 429]);
  // These are another device, the same name in another tenant, another address, and the device's own polls.
  expect(await Promise.all([from("1 e", "203.0.113.1"), from("2 d", "203.0.113.1"), from("1 anonymous", "198.51.100.8")])).toEqual([
    200, 200, 200,
  ]);
  expect(await ask("GET /T/controller/v1/d", user("1 d"))).toBe(200);
  waiting.shift()?.();
  await expect.poll(() => from("1 d", "203.0.113.9")).toBe(200);
  // A client that hangs up releases its place.
  for (const { socket } of [...greedy, ...nobody]) socket.destroy();
  await expect.poll(() => from("1 anonymous", "198.51.100.7")).toBe(200);
});

test("requests of the management interface are limited by user and by tenant, without effect on others", async () => {
  const rates = { ...noRates, user: { reads: 4, writes: 2 }, users: { reads: 6, writes: 3 }, bytes: { device: 0, tenant: 0 } };
  edge.deps.rates = new RateLimits({ ...rates, exempt: new AddressList("198.51.100.1") });
  const now = Date.now();
  edge.deps.now = () => now;
  const many = async (times: number, headers: Record<string, string>, line = targets) => {
    const seen: (number | undefined)[] = [];
    for (let n = 0; n < times; n += 1) seen.push(await ask(line, headers));
    return seen;
  };
  expect(await many(6, user("1 busy"))).toEqual([200, 200, 200, 200, 429, 429]);
  expect(await many(3, user("1 busy"), "POST /api/mgmt/v1/targets")).toEqual([200, 200, 429]);
  expect(await many(3, user("1 other"))).toEqual([200, 200, 429]);
  expect(await many(2, user("2 somebody"))).toEqual([200, 200]);
  expect(await many(2, user("1 d"), "GET /T/controller/v1/d")).toEqual([200, 200]);
  expect(new Set(await many(10, user("1 busy", { "x-forwarded-for": "198.51.100.1" })))).toEqual(new Set([200]));
  edge.deps.now = () => now + 1_000;
  expect(await many(1, user("1 busy"))).toEqual([200]);
});

test("connections beyond a limit are closed before anything is read, and existing ones are served", async () => {
  let refused = 0;
  const onRefused = (count: number) => {
    refused += count;
  };
  new ConnectionLimits({ total: 0, address: 5, isFree: () => false, onRefused, now: Date.now }).watch(edge.server);
  const inside = Array.from({ length: 5 }, () => client());
  for (const one of inside) one.send({ line: "GET /livez" });
  await expect.poll(() => inside.flatMap((one) => one.statuses())).toEqual([200, 200, 200, 200, 200]);
  const outside = client();
  outside.send({ line: "GET /livez" });
  await outside.closed;
  expect([outside.statuses(), refused]).toEqual([[], 1]);
  inside[0]?.send({ line: "GET /livez" });
  await expect.poll(() => inside[0]?.statuses()).toEqual([200, 200]);
  inside[0]?.socket.destroy();
  await expect.poll(() => ask("GET /livez", {})).toBe(200);
});

test("one address has a maximum of connections, a free one has the total, and an IPv6 network of 64 bits is one address", () => {
  const limits = new ConnectionLimits({
    total: 10,
    address: 3,
    isFree: (address) => address === "127.0.0.1",
    onRefused: () => undefined,
    now: Date.now,
  });
  const enter = (address: string, times: number) => Array.from({ length: times }, () => limits.enter(address)).filter(Boolean);
  const first = enter("203.0.113.1", 5);
  expect(first).toHaveLength(3);
  expect(["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"].flatMap((address) => enter(address, 1))).toHaveLength(3);
  expect(enter("127.0.0.1", 5)).toHaveLength(4);
  expect(enter("203.0.113.2", 1)).toHaveLength(0);
  first[0]?.();
  expect(enter("203.0.113.1", 3)).toHaveLength(1);
});

test("a draining gateway answers, and closes each connection with the answer", async () => {
  const one = client();
  one.send({ line: "GET /T/controller/v1/d", headers: user("1 d") });
  await expect.poll(() => one.statuses()).toEqual([200]);
  edge.state.draining = true;
  one.send({ line: "GET /T/controller/v1/d", headers: user("1 d") });
  await one.closed;
  expect(one.statuses()).toEqual([200, 200]);
  expect(one.text()).toMatch(/connection: close\r\n/i);
});
