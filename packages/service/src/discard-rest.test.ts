import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { type DiscardBudget, discardRest } from "./discard-rest.ts";

const mebibyte = 1024 * 1024;

/** Sends bytes as fast as possible to a server that answers at the first of them; answers whether all were accepted. */
async function send(bytes: number, budget: DiscardBudget): Promise<boolean> {
  const server = createServer((req, res) => {
    req.once("data", () => {
      req.pause();
      discardRest(req, budget);
      res.writeHead(400).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const req = request({ host: "127.0.0.1", port, method: "POST", agent });
  const ended = once(req, "finish").then(
    () => true,
    () => false,
  );
  req.end(Buffer.alloc(bytes));
  const all = await ended;
  agent.destroy();
  server.close();
  return all;
}

it("reads on to the end within its budget", async () => {
  expect(await send(20 * mebibyte, { bytes: 32 * mebibyte, ms: 60_000 })).toBe(true);
});

it("closes the connection of a client that sends more or takes longer", async () => {
  expect(await send(40 * mebibyte, { bytes: 4 * mebibyte, ms: 60_000 })).toBe(false);
  expect(await send(200 * mebibyte, { bytes: Number.POSITIVE_INFINITY, ms: 1 })).toBe(false);
});
