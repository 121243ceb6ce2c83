import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, request, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server as NetServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { RpcTls } from "@harrier/rpc";
import { afterEach, describe, expect, test } from "vitest";
import { Connections } from "./connections.ts";
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
  const edge = createServer((req, res) => {
    const deadline = Date.now() + budgetMs;
    const how = { replica: upstreams.pick("controller"), surface: "device", deadline, repeated: false, readBody: undefined };
    delete req.headers.connection;
    forward(Object.assign(req, how) as ForwardedRequest, res);
  });
  return listening(edge);
}

const refuse = ({ error, res }: Failure): void => void res.writeHead(503).end(error.message);

interface Asked {
  readonly status: Promise<number>;
  hangUp(): void;
}

function ask(port: number, { path = "/x", host = "gateway" } = {}): Asked {
  const { promise: status, resolve } = Promise.withResolvers<number>();
  const req = request({ host: "127.0.0.1", port, path, headers: { host }, agent: false }, (res) => {
    res.resume().on("end", () => resolve(res.statusCode ?? 0));
  });
  req.on("error", () => resolve(0)).end();
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

/** Starts a gateway that has one connection to its service, for which so many requests may wait. */
async function withOneConnection(app: RequestListener, maxWaiting: number, budgetMs?: number) {
  const upstreams = upstreamsAt(`http://127.0.0.1:${await listening(createServer(app))}`);
  const connections = new Connections(undefined, 1_000, 1);
  cleanups.push(() => connections.stop());
  const port = await edgeOf(
    upstreams,
    createSmallForward({ upstreams, connections, idleMs: 3_000, maxWaiting, onError: refuse }),
    budgetMs,
  );
  return { port, replica: upstreams.pick("controller") };
}

test("so many requests wait for a connection, and one more is answered at once", async () => {
  const { app, held } = holding();
  const { port } = await withOneConnection(app, 2);
  const first = ask(port, { path: "/first" });
  await expect.poll(() => held.length).toBe(1);
  const waiting = [ask(port), ask(port)];
  await sleep(50);
  expect(await ask(port).status).toBe(503);
  held[0]?.res.end();
  expect(await first.status).toBe(200);
  for (const at of [1, 2]) {
    await expect.poll(() => held.length).toBe(at + 1);
    held[at]?.res.end();
  }
  expect(await Promise.all(waiting.map(({ status }) => status))).toEqual([200, 200]);
});

test("the service never gets a request whose client has hung up while it waited, and its place is free again", async () => {
  const { app, held } = holding();
  const { port } = await withOneConnection(app, 2);
  const first = ask(port);
  await expect.poll(() => held.length).toBe(1);
  for (const gone of [ask(port, { path: "/gone" }), ask(port, { path: "/gone" })]) {
    await sleep(50);
    gone.hangUp();
  }
  await sleep(50);
  held[0]?.res.end();
  expect(await first.status).toBe(200);
  const later = [ask(port, { path: "/later" }), ask(port, { path: "/later" })];
  for (const at of [1, 2]) {
    await expect.poll(() => held.length).toBe(at + 1);
    held[at]?.res.end();
  }
  expect(await Promise.all(later.map(({ status }) => status))).toEqual([200, 200]);
  expect(held.map(({ path }) => path)).toEqual(["/x", "/later", "/later"]);
});

test("a request whose budget has passed while it waited is refused, and its replica is not blamed", async () => {
  const { app, held } = holding();
  const { port, replica } = await withOneConnection(app, 2, 200);
  replica.ready = true;
  const first = ask(port);
  await expect.poll(() => held.length).toBe(1);
  const late = ask(port, { path: "/late" });
  await sleep(300);
  held[0]?.res.end();
  expect([await first.status, await late.status]).toEqual([200, 503]);
  expect([held.map(({ path }) => path), replica.ready]).toEqual([["/x"], true]);
});

test("the service learns that a client has hung up", async () => {
  const { app, held, closed } = holding();
  const { port, replica } = await withOneConnection(app, 2);
  replica.ready = true;
  const asked = ask(port);
  await expect.poll(() => held.length).toBe(1);
  asked.hangUp();
  await expect.poll(() => closed).toEqual(["/x"]);
  expect(replica.ready).toBe(true);
});

test("a service that says nothing is 503 after the idle time", async () => {
  const upstreams = upstreamsAt(`http://127.0.0.1:${await listening(createServer(() => undefined))}`);
  const { connections } = upstreams;
  const port = await edgeOf(upstreams, createSmallForward({ upstreams, connections, idleMs: 300, onError: refuse }));
  expect(await ask(port).status).toBe(503);
});

test("of a long answer no more is read than its client takes", async () => {
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
  const { port } = await withOneConnection(app, 2);
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
  expect(got).toBe(64 * 2 ** 20);
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
