import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { HarrierError } from "@harrier/errors";
import { identityHeader, type KeySet, type Principal, parseKeys, verifyIdentity } from "@harrier/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Certificate, parseCertificateHeaders } from "../authentication/certificate.ts";
import type { TokenRequest } from "../authentication/client-token/client-sign-ins.ts";
import { AddressList } from "../client/address-list.ts";
import { InFlight } from "../limits/in-flight.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { createHeaderFilter } from "./foreign-headers.ts";
import { type HandleDeps, handle, type SignInRequest } from "./handle.ts";
import { OpenStreams } from "./open-streams.ts";
import { createBodyReader } from "./read-body.ts";
import { createRouteIndex } from "./route-index.ts";

const keys: KeySet = parseKeys(
  `gateway/controller=k1:${Buffer.alloc(32, 1).toString("base64")};gateway/management=k1:${Buffer.alloc(32, 2).toString("base64")}`,
);
const certificateHeaders = parseCertificateHeaders("X-Cn:X-Issuer-%d");
const path = "/DEFAULT/controller/v1/dev";
const principal: Principal = { tenantId: 1, tenant: "DEFAULT", kind: "device", subject: "dev", controllerId: "dev", permissions: [] };
const rates = { reads: 5, writes: 3, downloads: 100 };
/** These are no limits of the management interface. */
const others = { user: { reads: 0, writes: 0 }, users: { reads: 0, writes: 0 }, bytes: { device: 0, tenant: 0 } };

let server: Server;
let port: number;
/** The requests that were to be signed in, and those that were forwarded. */
let signIns: SignInRequest[];
let passed: IncomingHttpHeaders[];
let bodies: (Buffer | undefined)[];
let clientSignIns: TokenRequest[];
let ended: number[];
let deps: HandleDeps;
/** The certificate that the client has shown where TLS ends here. */
let shown: Certificate | undefined;

beforeEach(() => {
  shown = undefined;
  signIns = [];
  passed = [];
  bodies = [];
  clientSignIns = [];
  ended = [];
  const began = Date.now();
  const forward: HandleDeps["forward"] = (req, res) => {
    passed.push({ ...req.headers });
    bodies.push(req.readBody);
    res.end();
  };
  deps = {
    match: createRouteIndex(),
    trustedProxies: new AddressList("127.0.0.1"),
    certificateHeaders,
    certificateOf: () => shown,
    rates: new RateLimits({
      address: rates,
      device: { ...rates, reads: 4 },
      tenant: rates,
      ...others,
      exempt: new AddressList("127.0.0.1"),
    }),
    authenticate(request) {
      signIns.push(request);
      return principal;
    },
    upstreams: { pick: () => ({ url: "", target: {}, ready: true }) } as unknown as HandleDeps["upstreams"],
    forwardDevice: forward,
    forward,
    forwardTransfer: forward,
    keys,
    inFlight: new InFlight(2),
    streams: new OpenStreams(),
    downloads: new InFlight(0),
    bodies: createBodyReader({ withinMs: 200, together: 3_000_000 }),
    openBodies: createBodyReader({ withinMs: 200, together: 1_000_000 }),
    stillSendingMs: 300,
    isForeign: createHeaderFilter(certificateHeaders),
    publicUrl: undefined,
    traceShare: 1,
    fault: () => undefined,
    onRefused: () => undefined,
    beginClientSignIn: (request) => {
      clientSignIns.push(request);
      return (status) => ended.push(status);
    },
    onEnd: () => undefined,
    now: () => began,
  };
});
beforeAll(async () => {
  server = createServer((req, res) => handle(deps, req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Requested {
  method?: string;
  headers?: Record<string, string>;
  url?: string;
  body?: Buffer;
}

const ask = ({ method = "GET", headers = {}, url = path, body }: Requested = {}) =>
  new Promise<IncomingMessage & { text: string }>((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, method, path: url, headers }, (res) => {
      let text = "";
      res.on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => resolve(Object.assign(res, { text })));
    });
    req.on("error", reject);
    req.end(body);
  });
const statuses = async (times: number, requested: Requested) => {
  const seen: (number | undefined)[] = [];
  for (let n = 0; n < times; n++) seen.push((await ask(requested)).statusCode);
  return seen;
};
const from = (address: string) => ({ "x-forwarded-for": address });

test("an address beyond its limit is denied before any sign-in", async () => {
  deps.rates = new RateLimits({ address: rates, device: rates, tenant: rates, ...others, exempt: new AddressList("none") });
  expect(await statuses(7, { headers: from("203.0.113.1") })).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(signIns).toHaveLength(5);
  const refused = await ask({ headers: from("203.0.113.1") });
  expect([refused.text, refused.headers["retry-after"], refused.headers["content-length"]]).toEqual(["", "1", "0"]);
});

test("a device beyond its limit is denied, exempt addresses and the management interface are not", async () => {
  expect(await statuses(5, { headers: from("203.0.113.1") })).toEqual([200, 200, 200, 200, 429]);
  expect(new Set(await statuses(20, {}))).toEqual(new Set([200]));
  const url = "/api/mgmt/v1/targets";
  deps.authenticate = () => ({ ...principal, kind: "user", permissions: ["READ_TARGET"] });
  expect(new Set(await statuses(20, { headers: from("203.0.113.2"), url }))).toEqual(new Set([200]));
});

test("services get only trusted facts about the client", async () => {
  const told = { ...from("203.0.113.7"), "x-forwarded-proto": "https", "x-forwarded-host": "ota.example", forwarded: "for=1.1.1.1" };
  const mine = { "x-cn": "dev", "x-issuer-1": "ab", "x-harrier-identity": "x", authorization: "TargetToken t" };
  await ask({ headers: { ...told, ...mine, "x-request-id": "r-1", accept: "application/cbor" } });
  expect(signIns[0]).toMatchObject({ authorization: "TargetToken t", certificates: [{ name: "dev", issuers: "ab" }] });
  const headers = passed[0] as IncomingHttpHeaders;
  expect(Object.keys(headers).filter((name) => /^(x-|forwarded|authorization)/.test(name))).toEqual([
    "x-request-id",
    "x-forwarded-for",
    identityHeader,
    "x-harrier-budget",
  ]);
  expect(headers["x-forwarded-for"]).toBe("203.0.113.7");
  const identity = verifyIdentity(keys, "controller", String(headers[identityHeader]), {
    method: "GET",
    path,
    now: Date.now(),
  });
  expect(identity.baseUrl).toBe("https://ota.example");
});

test("a client's own certificate counts, and from a proxy only those of its clients", async () => {
  shown = { name: "own", issuers: "aa" };
  const headers = { "x-cn": "dev", "x-issuer-1": "ab" };
  await ask({ headers: { ...from("203.0.113.7"), ...headers } });
  expect(signIns[0]?.certificates).toEqual([{ name: "dev", issuers: "ab" }]);
  await ask({ headers: from("203.0.113.7") });
  expect(signIns[1]?.certificates).toEqual([]);
  deps.trustedProxies = new AddressList("none");
  await ask({ headers });
  expect(signIns[2]?.certificates).toEqual([shown]);
});

test("certificate headers of an untrusted peer do not count", async () => {
  deps.trustedProxies = new AddressList("none");
  await ask({ headers: { ...from("203.0.113.7"), "x-forwarded-proto": "https", "x-cn": "dev", "x-issuer-1": "ab" } });
  expect(signIns[0]?.certificates).toBeUndefined();
  expect(passed[0]?.["x-forwarded-for"]).toBe("127.0.0.1");
  expect(Object.keys(passed[0] ?? {})).not.toContain("x-cn");
});

test("a body that its service would not read is not forwarded, and the connection serves the next request", async () => {
  const url = `${path}/configData`;
  const refused = await ask({ method: "PUT", url, body: Buffer.alloc(3_000_000) });
  expect([refused.statusCode, passed]).toEqual([413, []]);
  expect((await ask({ method: "PUT", url, body: Buffer.alloc(1024 * 1024) })).statusCode).toBe(200);
});

test("a device that is answered and goes on sending is cut off", async () => {
  deps.authenticate = () => Promise.reject(new Error("no"));
  const socket = connect(port, "127.0.0.1");
  socket.write(`PUT ${path}/configData HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
  const sending = setInterval(() => socket.write("5\r\nxxxxx\r\n"), 20);
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.on("close", resolve));
  clearInterval(sending);
});

const write = (head: string, body = ""): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
    socket.write(`${head.replaceAll("\n", "\r\n")}\r\n\r\n${body}`);
  });

test("headers for the client's connection are not forwarded, whether HTTP or the client declares them", async () => {
  const hop =
    "Connection: te, X-Mine, content-length, host\nTrailer: X\nTE: trailers\nKeep-Alive: 5\nExpect: 100-continue\nUpgrade: h2c\nX-Mine: 1";
  const answer = await write(`PUT ${path}/configData HTTP/1.1\nHost: h\nContent-Length: 2\n${hop}\nX-Yours: 2`, "{}");
  expect(answer).toMatch(/^HTTP\/1.1 [12]00/);
  await expect.poll(() => passed.length).toBe(1);
  const names = Object.keys(passed[0] ?? {});
  expect(names).toEqual(expect.arrayContaining(["host", "content-length", "x-yours"]));
  for (const gone of ["connection", "te", "trailer", "keep-alive", "expect", "upgrade", "x-mine"]) expect(names).not.toContain(gone);
});

test("a body is complete before its service is called", async () => {
  const answer = await write(`PUT ${path}/configData HTTP/1.1\nHost: h\nTransfer-Encoding: chunked`, "2\r\n{}\r\n3\r\nabc\r\n0\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 200/);
  expect(bodies[0]?.toString()).toBe("{}abc");
  expect([passed[0]?.["content-length"], passed[0]?.["transfer-encoding"]]).toEqual(["5", undefined]);
});

test("a body that is late or incomplete reaches no service", async () => {
  expect(await write(`PUT ${path}/configData HTTP/1.1\nHost: h\nContent-Length: 100`, "{")).toMatch(/^HTTP\/1.1 408/);
  const endless = `${(100_000).toString(16)}\r\n${"x".repeat(100_000)}\r\n`.repeat(12);
  expect(await write(`PUT ${path}/configData HTTP/1.1\nHost: h\nTransfer-Encoding: chunked`, endless)).toMatch(/^HTTP\/1.1 413/);
  expect(passed).toEqual([]);
});

test("all bodies together have a limit, and ended ones release their share", async () => {
  const open = Array.from({ length: 3 }, () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`PUT ${path}/configData HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(990_000)}`);
    return socket;
  });
  const another = async () => (await ask({ method: "PUT", url: `${path}/configData`, body: Buffer.alloc(900_000) })).statusCode;
  await expect.poll(another, { timeout: 5_000 }).toBe(503);
  for (const socket of open) socket.destroy();
  await expect.poll(another, { timeout: 5_000 }).toBe(200);
});

test("an address in absolute form is read, a malformed one is 400", async () => {
  expect(await write(`GET http://h${path}?x=1 HTTP/1.1\nHost: h`)).toMatch(/^HTTP\/1.1 200/);
  expect((await ask({ url: "/DEFAULT/controller/v1/a%zz" })).statusCode).toBe(400);
});

test("public pages go to management without an identity, counted for their address, with their credential", async () => {
  const url = "/oauth2/token";
  const headers = { ...from("203.0.113.1"), authorization: "Basic x", "x-harrier-identity": "mine", "x-real-ip": "x" };
  const post = { method: "POST", url, headers, body: Buffer.from("a=b") };
  expect((await ask(post)).statusCode).toBe(200);
  expect([signIns, bodies.map(String)]).toEqual([[], ["a=b"]]);
  expect(passed[0]).toMatchObject({ authorization: "Basic x", "x-forwarded-for": "203.0.113.1", "x-request-id": expect.any(String) });
  expect(passed[0]).not.toHaveProperty(identityHeader);
  expect(await statuses(3, post)).toEqual([200, 200, 429]);
  const wrong = await ask({ url, headers: from("203.0.113.2") });
  expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, "POST"]);
  expect((await ask({ ...post, headers: from("203.0.113.2"), body: Buffer.alloc(70_000) })).statusCode).toBe(413);
  for (const page of ["/oauth2/jwks", "/.well-known/openid-configuration?x=1"]) expect((await ask({ url: page })).statusCode).toBe(200);
  expect((await ask({ url: "/oauth2/jwks/" })).statusCode).toBe(404);
});

test("a request of the token endpoint counts as a sign-in with its outcome, and is denied after too many failures", async () => {
  const headers = { ...from("203.0.113.1"), authorization: "Basic x", "x-request-id": "r-1" };
  const post = { method: "POST", url: "/oauth2/token", headers, body: Buffer.from("a=b") };
  await ask(post);
  expect(clientSignIns).toMatchObject([
    { client: { address: "203.0.113.1" }, authorization: "Basic x", body: Buffer.from("a=b"), rid: "r-1" },
  ]);
  const forward = deps.forward;
  deps.forward = (req, res) => {
    res.statusCode = 401;
    forward(req, res);
  };
  await ask({ ...post, headers: from("203.0.113.2") });
  await ask({ url: "/oauth2/jwks" });
  await expect.poll(() => ended).toEqual([200, 401]);
  deps.beginClientSignIn = () => {
    throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "40" } });
  };
  const requested = passed.length;
  for (const body of [Buffer.from("a=b"), undefined]) {
    const refused = await ask({ method: "POST", url: post.url, headers: from("203.0.113.3"), ...(body && { body }) });
    expect([refused.statusCode, refused.headers["retry-after"], refused.text]).toEqual([429, "40", ""]);
  }
  expect([passed.length, ended]).toEqual([requested, [200, 401]]);
});
