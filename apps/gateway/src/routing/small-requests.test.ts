import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, request, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server as NetServer } from "node:net";
import type { RpcTls } from "@harrier/rpc";
import { afterEach, describe, expect, test } from "vitest";
import { Connections } from "./connections.ts";
import { arrival, rawClient } from "./edge.fixture.ts";
import type { Failure, Forward, ForwardedRequest } from "./forward.ts";
import { createForward } from "./proxy.ts";
import { createSmallForward } from "./small-requests.ts";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function listening(server: Server | NetServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

function upstreamsAt(url: string, tls?: RpcTls): Upstreams {
  const upstreams = createUpstreams({ controller: url, management: url, "artifact-store": url, "rollout-engine": url }, tls);
  cleanups.push(() => upstreams.stop());
  return upstreams;
}

/** Starts a gateway that forwards each request so. */
function edgeOf(upstreams: Upstreams, forward: Forward, budgetMs = 5_000): Promise<number> {
  const edge = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const readBody = parts.length === 0 ? undefined : Buffer.concat(parts);
    const deadline = Date.now() + budgetMs;
    delete req.headers.connection;
    const how = { replica: upstreams.pick("controller"), surface: "device", deadline, repeated: false, readBody };
    forward(Object.assign(req, how) as ForwardedRequest, res);
  });
  return listening(edge);
}

const refuse = ({ error, res }: Failure): void => void res.writeHead(503).end(error.message);

interface Asked {
  readonly status: Promise<number>;
  hangUp(): void;
}

interface Question {
  readonly path?: string;
  readonly host?: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

function ask(port: number, { path = "/x", host = "gateway", method = "GET", body = "", headers = {} }: Question = {}): Asked {
  const { promise: status, resolve } = Promise.withResolvers<number>();
  const length = body === "" ? {} : { "content-length": String(body.length) };
  const req = request({ host: "127.0.0.1", port, path, method, headers: { host, ...length, ...headers }, agent: false }, (res) => {
    res.resume().on("end", () => resolve(res.statusCode ?? 0));
  });
  req.on("error", () => resolve(0)).end(body);
  return { status, hangUp: () => void req.destroy() };
}

/** A service of which each request waits for its answer. */
function holding(): { app: RequestListener; held: { path: string; res: ServerResponse }[]; closed: string[] } {
  const held: { path: string; res: ServerResponse }[] = [];
  const closed: string[] = [];
  const app = (req: IncomingMessage, res: ServerResponse): void => {
    held.push({ path: req.url ?? "", res });
    res.on("close", () => {
      if (!res.writableFinished) closed.push(req.url ?? "");
    });
  };
  return { app, held, closed };
}

interface OneConnection {
  /** So many requests may wait for the connection. */
  readonly waiting?: number;
  readonly budgetMs?: number;
  readonly idleMs?: number;
}

/** Starts a gateway that has one connection to each replica. */
async function withOneConnection(apps: readonly RequestListener[], { waiting = 2, budgetMs, idleMs = 3_000 }: OneConnection = {}) {
  const sockets = new Set<object>();
  const addresses: string[] = [];
  for (const app of apps) {
    const server = createServer(app).on("connection", (socket) => sockets.add(socket));
    addresses.push(`http://127.0.0.1:${await listening(server)}`);
  }
  const upstreams = upstreamsAt(addresses.join(","));
  const connections = new Connections(undefined, 1_000, { perReplica: 1, waiting });
  cleanups.push(() => connections.stop());
  const port = await edgeOf(upstreams, createSmallForward({ upstreams, connections, idleMs, onError: refuse }), budgetMs);
  const replicas = apps.map(() => upstreams.pick("controller"));
  for (const replica of replicas) replica.ready = true;
  return { port, replicas, sockets };
}

test("so many requests wait for a replica, and one more is answered at once", async () => {
  const { app, held } = holding();
  const { port } = await withOneConnection([app]);
  const first = ask(port, { path: "/first" });
  await expect.poll(() => held.length).toBe(1);
  const waiting = [ask(port), ask(port)];
  await arrival();
  expect(await ask(port).status).toBe(503);
  held[0]?.res.end();
  expect(await first.status).toBe(200);
  for (const at of [1, 2]) {
    await expect.poll(() => held.length).toBe(at + 1);
    held[at]?.res.end();
  }
  expect(await Promise.all(waiting.map(({ status }) => status))).toEqual([200, 200]);
});

test("where too many wait for one replica another is asked, and what waits for one takes no place of another", async () => {
  const { app, held } = holding();
  const { port } = await withOneConnection([app, (_req, res) => void res.end()], { waiting: 1 });
  const statuses: number[] = [];
  for (let n = 0; n < 12; n += 1) {
    void ask(port).status.then((status) => statuses.push(status));
    await arrival();
  }
  expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
  for (const at of [0, 1]) {
    await expect.poll(() => held.length).toBe(at + 1);
    held[at]?.res.end();
  }
  await expect.poll(() => statuses).toEqual(Array.from({ length: 12 }, () => 200));
});

test("a client that hangs up while its request waits leaves its place at once, and costs no connection", async () => {
  const { app, held } = holding();
  const { port, sockets } = await withOneConnection([app]);
  const first = ask(port);
  await expect.poll(() => held.length).toBe(1);
  for (let n = 0; n < 5; n += 1) {
    const gone = [ask(port, { path: "/gone" }), ask(port, { path: "/gone" })];
    await arrival();
    for (const one of gone) one.hangUp();
    await arrival();
  }
  const later = [ask(port, { path: "/later" }), ask(port, { path: "/later" })];
  await arrival();
  for (const at of [0, 1, 2]) {
    await expect.poll(() => held.length).toBe(at + 1);
    held[at]?.res.end();
  }
  expect(await Promise.all([first, ...later].map(({ status }) => status))).toEqual([200, 200, 200]);
  expect([held.map(({ path }) => path), sockets.size]).toEqual([["/x", "/later", "/later"], 1]);
});

test("a request that waits is answered when its budget has passed, and its replica is not blamed", async () => {
  const { app, held } = holding();
  const { port, replicas, sockets } = await withOneConnection([app], { budgetMs: 200 });
  const first = ask(port);
  await expect.poll(() => held.length).toBe(1);
  expect(await ask(port, { path: "/late" }).status).toBe(503);
  held[0]?.res.end();
  expect(await first.status).toBe(200);
  expect([held.map(({ path }) => path), replicas[0]?.ready, sockets.size]).toEqual([["/x"], true, 1]);
});

test("the service learns that a client has hung up", async () => {
  const { app, held, closed } = holding();
  const { port, replicas } = await withOneConnection([app]);
  const asked = ask(port);
  await expect.poll(() => held.length).toBe(1);
  asked.hangUp();
  await expect.poll(() => closed).toEqual(["/x"]);
  expect(replicas[0]?.ready).toBe(true);
});

test("nothing that a client sends takes a replica out of service", async () => {
  const { port, replicas } = await withOneConnection([(_req, res) => void res.end(), (_req, res) => void res.end()]);
  const client = rawClient(port);
  for (const line of ["GET */x", "PUT */x"]) client.send({ line, headers: { "content-length": "0" } });
  await expect.poll(() => client.statuses()).toEqual([503, 503]);
  client.socket.destroy();
  expect(replicas.map(({ ready }) => ready)).toEqual([true, true]);
});

test.each(["GET", "DELETE", "HEAD"])("%s requests, also with a body, end no connection", async (method) => {
  const { port, sockets } = await withOneConnection([(req, res) => void req.resume().on("end", () => res.end())]);
  for (let n = 0; n < 3; n += 1) expect(await ask(port, { method, body: method === "HEAD" ? "" : "{}" }).status).toBe(200);
  expect(sockets.size).toBe(1);
});

test("a second replica gets what is left of the budget", async () => {
  const budgets: number[] = [];
  const note: RequestListener = (req, res) => {
    budgets.push(Number(req.headers["x-harrier-budget"]));
    if (budgets.length === 1) setTimeout(() => req.socket.destroy(), 200);
    else res.end();
  };
  const { port } = await withOneConnection([note, note]);
  expect(await ask(port, { headers: { "x-harrier-budget": "5000" } }).status).toBe(200);
  expect((budgets[0] ?? 0) - (budgets[1] ?? 0)).toBeGreaterThan(150);
});

test("a client that does not read a long answer is cut off, and its connection serves others", async () => {
  const app: RequestListener = (req, res) => void res.end(req.url === "/long" ? Buffer.alloc(64 * 2 ** 20) : "");
  const { port, replicas } = await withOneConnection([app], { idleMs: 500 });
  const client = rawClient(port);
  client.socket.pause();
  client.send({ line: "GET /long" });
  await arrival();
  expect(await ask(port).status).toBe(200);
  client.socket.resume();
  await client.closed;
  expect([client.text().length < 64 * 2 ** 20, replicas[0]?.ready]).toEqual([true, true]);
});

test("a service that says nothing is 503 after the idle time", async () => {
  const upstreams = upstreamsAt(`http://127.0.0.1:${await listening(createServer(() => undefined))}`);
  const { connections } = upstreams;
  const port = await edgeOf(upstreams, createSmallForward({ upstreams, connections, idleMs: 300, onError: refuse }));
  expect(await ask(port).status).toBe(503);
});

test("of a long answer no more is read than its client takes, and no listener of its pauses is left", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.message);
  process.on("warning", note);
  cleanups.push(() => process.off("warning", note));
  let written = 0;
  const app: RequestListener = (_req, res) => {
    const part = Buffer.alloc(64 * 1024);
    const fill = (): void => {
      while (written < 64 * 2 ** 20) {
        written += part.length;
        if (!res.write(part)) return void res.once("drain", fill);
      }
      res.end();
    };
    fill();
  };
  const { port } = await withOneConnection([app]);
  const req = request({ host: "127.0.0.1", port, path: "/x", agent: false }).end();
  const [answer] = await new Promise<[IncomingMessage]>((resolve) => req.once("response", (res) => resolve([res])));
  answer.pause();
  let before = -1;
  await expect
    .poll(() => {
      const stands = written === before;
      before = written;
      return stands;
    })
    .toBe(true);
  expect(written).toBeLessThan(32 * 2 ** 20); // what the buffers of three connections of the system hold
  let got = 0;
  for await (const part of answer) got += (part as Buffer).length;
  expect([got, warnings]).toEqual([64 * 2 ** 20, []]);
});

const pem = (name: string): string => readFileSync(new URL(`../../../../packages/rpc/fixtures/${name}`, import.meta.url), "utf8");
const tlsOf = (name: string): RpcTls => ({ cert: pem(`${name}.pem`), key: pem(`${name}.key`), ca: pem("ca.pem") });

describe.each(["proxy", "small"])("between services with mutual TLS, forwarded by %s", (way) => {
  /** Starts a gateway in front of a service whose certificate is for `controller` and 127.0.0.1. */
  async function inFrontOfServiceAt(name: string): Promise<number> {
    const server = createTlsServer({ ...tlsOf("controller"), requestCert: true, rejectUnauthorized: true }, (_req, res) => void res.end());
    const upstreams = upstreamsAt(`https://${name}:${await listening(server)}`, tlsOf("gateway"));
    const { agent, connections } = upstreams;
    const options = { upstreams, idleMs: 3_000, onError: refuse };
    return edgeOf(upstreams, way === "proxy" ? createForward({ ...options, agent }) : createSmallForward({ ...options, connections }));
  }

  test.each(["127.0.0.1", "localhost", "updates.example.com", "updates.example.com:8443", "management"])(
    "the name %s that a client has for the gateway is none that the service has to prove",
    async (host) => {
      const port = await inFrontOfServiceAt("127.0.0.1");
      expect([await ask(port, { host }).status, await ask(port, { host }).status]).toEqual([200, 200]);
    },
  );

  test("a service whose certificate is not for its address is refused, whatever name the client has for the gateway", async () => {
    expect(await ask(await inFrontOfServiceAt("localhost"), { host: "controller" }).status).toBe(503);
  });
});
