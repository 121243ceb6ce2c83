import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { type DiscardBudget, discardRest } from "./discard-rest.ts";

const mebibyte = 1024 * 1024;

/** Sends bytes as fast as possible to a server that answers at the first of them. */
async function send(
  bytes: number,
  budget: DiscardBudget,
  keepAlive = true,
): Promise<{ accepted: boolean; status: number | undefined; read: number }> {
  let read = 0;
  const server = createServer((req, res) => {
    req.on("data", (chunk: Buffer) => {
      read += chunk.length;
    });
    req.once("data", () => {
      req.pause();
      discardRest(Object.assign(req, { res }), budget);
      res.writeHead(400).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive });
  const req = request({ host: "127.0.0.1", port, method: "POST", agent });
  let status: number | undefined;
  req.on("response", (res) => {
    status = res.statusCode;
    res.resume().on("error", () => undefined);
  });
  const ended = once(req, "finish").then(
    () => true,
    () => false,
  );
  const closed = once(req, "close").catch(() => undefined);
  req.end(Buffer.alloc(bytes));
  const accepted = await ended;
  await closed;
  agent.destroy();
  server.close();
  return { accepted, status, read };
}

it("reads on to the end within its budget", async () => {
  expect(await send(20 * mebibyte, { bytes: 32 * mebibyte, ms: 60_000 })).toMatchObject({ accepted: true, status: 400 });
});

it.each([true, false])(
  "stops reading what a client sends beyond its budget, which has its answer before it is closed (keep-alive %s)",
  async (keepAlive) => {
    const { accepted, status, read } = await send(40 * mebibyte, { bytes: 4 * mebibyte, ms: 500 }, keepAlive);
    expect([accepted, status]).toEqual([false, 400]);
    expect(read).toBeLessThan(6 * mebibyte);
  },
);

it("closes the connection of a client that takes longer", async () => {
  expect(await send(200 * mebibyte, { bytes: Number.POSITIVE_INFINITY, ms: 1 })).toMatchObject({ accepted: false });
});

it("closes behind the last byte where a client asks for that", async () => {
  const server = createServer((req, res) => {
    discardRest(Object.assign(req, { res }), { bytes: mebibyte, ms: 60_000 });
    res.writeHead(400).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const req = request({ host: "127.0.0.1", port, method: "POST", headers: { connection: "close", "content-length": 4 } });
  req.write("ab");
  const [res] = (await once(req, "response")) as [IncomingMessage];
  res.resume();
  const open = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  req.end("cd");
  await once(req, "close");
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect([res.statusCode, open]).toEqual([400, 1]);
});
