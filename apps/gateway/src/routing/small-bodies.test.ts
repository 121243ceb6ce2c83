import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { ForwardedRequest } from "./forward.ts";
import { createForward } from "./proxy.ts";
import { createSmallForward } from "./small-requests.ts";
import { createUpstreams, type Upstreams } from "./upstreams.ts";

const open: (Server | Upstreams)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) {
    if ("stop" in one) one.stop();
    else one.close().closeAllConnections();
  }
});

async function serve(app: (req: IncomingMessage, res: ServerResponse) => void): Promise<number> {
  const server = createServer(app);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

type Way = "proxy" | "small";

/** Starts a gateway in front of a service, which reads each body before it forwards the request one of the two ways. */
async function inFrontOf(service: (req: IncomingMessage, res: ServerResponse) => void, way: Way): Promise<number> {
  const url = `http://127.0.0.1:${await serve(service)}`;
  const upstreams = createUpstreams({ controller: url, management: url, "artifact-store": url, "rollout-engine": url });
  open.push(upstreams);
  const options = { upstreams, idleMs: 3_000, onError: ({ res }: { res: ServerResponse }) => void res.destroy() };
  const forward =
    way === "proxy"
      ? createForward({ ...options, agent: upstreams.agent })
      : createSmallForward({ ...options, connections: upstreams.connections });
  return serve(async (req, res) => {
    const chunks: Buffer[] = [];
    if (req.method !== "GET" && req.method !== "HEAD") for await (const chunk of req) chunks.push(chunk as Buffer);
    delete req.headers.connection;
    const readBody = chunks.length === 0 ? undefined : Buffer.concat(chunks);
    const how = { replica: upstreams.pick("controller"), surface: "device", deadline: Date.now() + 5_000, repeated: false, readBody };
    forward(Object.assign(req, how) as ForwardedRequest, res);
  });
}

function ask(port: number, method: string, body?: Buffer): Promise<IncomingMessage & { body: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-length": body.length };
    const req = request({ host: "127.0.0.1", port, method, path: "/x", headers, agent: false }, async (res) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of res) chunks.push(chunk as Buffer);
        resolve(Object.assign(res, { body: Buffer.concat(chunks) }));
      } catch (error) {
        reject(error);
      }
    });
    req.on("error", reject).end(body);
  });
}

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

async function echo(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  res.writeHead(201, "Made", { "content-length": body.length, "x-of": ["a", "b"] }).end(body);
}

describe.each<Way>(["proxy", "small"])("forwarded by %s", (way) => {
  test.each([
    ["none", 0],
    ["a short one", 1],
    ["one of 64 KiB", 256],
    ["one beyond 64 KiB", 257],
    ["a long one", 40_000],
  ])("a body arrives with every byte, and so does its answer: %s", async (_name, times) => {
    const body = Buffer.concat(Array.from({ length: times }, () => everyByte));
    const port = await inFrontOf(echo, way);
    const answer = await ask(port, "POST", body);
    expect([answer.statusCode, answer.statusMessage, answer.headers["x-of"]]).toEqual([201, "Made", "a, b"]);
    expect(answer.body.equals(body)).toBe(true);
  });

  test("an answer to HEAD has the length and nothing else, however long the answer to GET is", async () => {
    for (const length of [5, 5_000_000]) {
      const port = await inFrontOf((_req, res) => void res.writeHead(200, { "content-length": length }).end(), way);
      const answer = await ask(port, "HEAD");
      expect([answer.headers["content-length"], answer.body.length]).toEqual([String(length), 0]);
    }
  });

  test.each([100, 1_000_000])("an answer of %i bytes that its service cuts off is cut off for the client too", async (length) => {
    const port = await inFrontOf((_req, res) => {
      res.writeHead(200, { "content-length": length });
      res.write(Buffer.alloc(50), () => res.destroy());
    }, way);
    await expect(ask(port, "GET")).rejects.toThrow();
  });

  test("a client of HTTP/1.0 gets no chunks", async () => {
    const port = await inFrontOf((_req, res) => {
      res.write("one ");
      res.end("two");
    }, way);
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /x HTTP/1.0\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text.split("\r\n\r\n")[1]).toBe("one two");
    expect(text.toLowerCase()).not.toContain("transfer-encoding");
  });
});
