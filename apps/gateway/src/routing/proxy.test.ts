import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, request, type Server } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { discardRest } from "@harrier/service";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Failure, ForwardedRequest } from "./forward.ts";
import { createForward } from "./proxy.ts";
import { createSmallForward } from "./small-requests.ts";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

let upstreams: Upstreams;
let servers: Server[];
let edge: Server;
let failures: Failure[];

beforeEach(() => {
  servers = [];
  failures = [];
});
afterEach(() => {
  for (const server of [...servers, edge]) {
    server.closeAllConnections();
    server.close();
  }
  upstreams.stop();
});

async function listening(server: { listen(port: number, host: string, then: () => void): unknown; address(): unknown }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Finds a port on which nobody listens. */
async function nobody(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function replica(app: RequestListener): Promise<number> {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, app);
  servers.push(server);
  return listening(server);
}

type Way = "proxy" | "small";

/** Starts a gateway in front of these replicas of one service, which calls the first of them first. */
async function open(
  ports: number[],
  { transfers, idleMs = 3_000, way = "proxy" }: { transfers?: { stallMs: number }; idleMs?: number; way?: Way } = {},
): Promise<number> {
  const controller = ports.map((port) => `http://127.0.0.1:${port}`).join(",");
  upstreams = createUpstreams({ controller, management: controller, "artifact-store": controller, "rollout-engine": controller });
  const onError = (failure: Failure): void => {
    failures.push(failure);
    failure.res.statusCode = failure.code === "requestTimeout" ? 408 : 503;
    failure.res.end();
  };
  const options = { upstreams, idleMs, onError };
  const forward =
    way === "proxy"
      ? createForward({ ...options, agent: upstreams.agent, ...(transfers && { transfers }) })
      : createSmallForward({ ...options, connections: upstreams.connections });
  const first = upstreams.pick("controller");
  edge = createHttpServer((req, res) => {
    const forwarded = req as ForwardedRequest;
    delete req.headers.connection;
    const go = (readBody: Buffer | undefined): void => {
      Object.assign(forwarded, { replica: first, surface: "device", deadline: Date.now() + 5_000, repeated: false, readBody });
      if (req.headers["x-last"] !== undefined) res.shouldKeepAlive = false;
      forward(forwarded, res);
    };
    if (transfers || req.method === "GET") return go(undefined);
    const chunks: Buffer[] = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => go(Buffer.concat(chunks)));
  });
  return listening(edge);
}

const ask = (port: number, method: string, body?: string, headers: Record<string, string> = {}) =>
  new Promise<IncomingMessage & { text: string }>((resolve, reject) => {
    const length = body === undefined || "transfer-encoding" in headers ? {} : { "content-length": String(body.length) };
    const req = request({ host: "127.0.0.1", port, method, path: "/x", headers: { ...headers, ...length }, agent: false }, (res) => {
      let text = "";
      res.on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => resolve(Object.assign(res, { text })));
    });
    req.on("error", reject);
    req.end(body);
  });

/** Answers what it was sent, and counts. */
function echo(got: string[]): RequestListener {
  return (req, res) => {
    let text = "";
    req.on("data", (chunk) => {
      text += chunk;
    });
    req.on("end", () => {
      got.push(`${req.method} ${text}`);
      res.end(text);
    });
  };
}

/** Serves one request on each connection and closes it with the second, as a replica that ends while we write. */
function closesSecond(seen: string[]): RequestListener {
  const known = new WeakSet<object>();
  return (req, res) => {
    if (known.has(req.socket)) {
      seen.push(String(req.method));
      req.socket.resetAndDestroy();
      return;
    }
    known.add(req.socket);
    req.resume().on("end", () => res.end("first"));
  };
}

describe.each<Way>(["proxy", "small"])("forwarded by %s", (way) => {
  test.each(["GET", "POST", "PUT", "DELETE"])(
    "%s: where one replica is down the other gets the request, once, with the whole body",
    async (method) => {
      const got: string[] = [];
      const port = await open([await nobody(), await replica(echo(got))], { way });
      const body = method === "GET" ? undefined : "x".repeat(300_000);
      const answer = await ask(port, method, body);
      expect([answer.statusCode, answer.text, got]).toEqual([200, body ?? "", [`${method} ${body ?? ""}`]]);
    },
  );

  test.each([
    ["PUT", 200],
    ["DELETE", 200],
    ["GET", 200],
    // Nobody knows whether it was begun, so a second attempt could do it twice.
    ["POST", 503],
  ])("%s on a connection that its replica closes is %i", async (method, status) => {
    const [seen, got]: [string[], string[]] = [[], []];
    const port = await open([await replica(closesSecond(seen)), await replica(echo(got))], { way });
    expect((await ask(port, "GET")).text).toBe("first");
    const body = method === "GET" ? undefined : "{}";
    expect((await ask(port, method, body)).statusCode).toBe(status);
    expect([seen.length, got]).toEqual([1, status === 200 ? [`${method} ${body ?? ""}`] : []]);
  });

  test("a request that broke on a new connection may have been begun: only reads are repeated", async () => {
    const got: string[] = [];
    const port = await open([await replica((req) => void req.socket.resetAndDestroy()), await replica(echo(got))], { way });
    expect([(await ask(port, "PUT", "{}")).statusCode, got]).toEqual([503, []]);
  });

  test("client and service connections end independently of each other", async () => {
    const port = await open(
      [
        await replica((req, res) => {
          res.setHeader("connection", req.headers["x-last"] === undefined ? "close" : "keep-alive");
          res.end();
        }),
      ],
      { way },
    );
    expect((await ask(port, "GET", undefined, { connection: "keep-alive" })).headers.connection).toBe("keep-alive");
    expect((await ask(port, "GET", undefined, { connection: "keep-alive", "x-last": "1" })).headers.connection).toBe("close");
  });
});

/** Sends the head and the beginning of an upload and returns the status. */
const upload = (port: number, bytes: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, method: "POST", path: "/x", agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode);
      req.destroy();
    });
    req.on("error", reject);
    req.write(Buffer.alloc(bytes));
  });

/** Answers 403 to the first bytes of a body, and notes each connection. */
const refusing = (sockets: Set<object>): RequestListener => {
  return (req, res) => {
    sockets.add(req.socket);
    req.once("data", () => {
      discardRest(Object.assign(req, { res }), { bytes: 1_000_000, ms: 1_000 });
      res.writeHead(403, { "content-length": "3" }).end("why");
    });
  };
};

test("the connection to a service that refused an upload before its end is used no more", async () => {
  const sockets = new Set<object>();
  const port = await open([await replica(refusing(sockets))], { transfers: { stallMs: 3_000 } });
  const chunked = { "transfer-encoding": "chunked" };
  for (const [body, headers] of [["x"], ["x", chunked], ["x".repeat(20_000_000)], ["x".repeat(20_000_000), chunked]] as const) {
    const { statusCode, text } = await ask(port, "POST", body, { connection: "keep-alive", ...headers });
    expect([statusCode, text]).toEqual([403, "why"]);
  }
  expect([sockets.size, failures]).toEqual([4, []]);
});

test.each(["keep-alive", "close"])(
  "a client that sends all of an upload before it reads learns why it was refused (%s)",
  async (connection) => {
    const port = await open([await replica(refusing(new Set()))], { transfers: { stallMs: 3_000 } });
    const client = connect(port, "127.0.0.1").on("error", () => undefined);
    client.pause();
    const length = 20_000_000;
    client.write(`POST /x HTTP/1.1\r\nHost: h\r\nConnection: ${connection}\r\nContent-Length: ${length}\r\n\r\n`);
    for (let n = 0; n < 20; n += 1) {
      await new Promise((resolve) => client.write(Buffer.alloc(length / 20), resolve));
      await sleep(5);
    }
    const [answer] = await once(client.resume(), "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 403 .*why$/s);
    client.destroy();
  },
);

test("an upload whose client stops sending is 408, and one whose service stops reading is 503", async () => {
  const reading = await open([await replica((req) => void req.resume())], { transfers: { stallMs: 300 } });
  expect(await upload(reading, 1_000)).toBe(408);
  expect(failures.map(({ req }) => req.replica.ready)).toEqual([false]);
  edge.closeAllConnections();
  edge.close();
  upstreams.stop();
  const stuck = await open([await replica(() => undefined)], { transfers: { stallMs: 300 }, idleMs: 900 });
  expect(await upload(stuck, 30_000_000)).toBe(503);
});
