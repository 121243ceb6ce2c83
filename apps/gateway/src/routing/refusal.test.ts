import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { afterEach, expect, test } from "vitest";
import { sendRefusal } from "./refusal.ts";

let server: Server;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterEach(() => {
  agent.destroy();
  server.close();
});

test("an upload whose service dies is denied, and its connection serves the next request", async () => {
  server = createServer((req, res) => {
    if (req.method === "GET") return void res.end();
    // This service stops reading.
    req.pipe(new Writable({ write: () => undefined }));
    setTimeout(() => sendRefusal({ req, res, error: new HarrierError("unavailable"), surface: "spec" }), 20);
  });
  server.keepAliveTimeout = 75_000; // the same as in the gateway
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (method: string, body?: Buffer) =>
    new Promise<number | undefined>((resolve, reject) => {
      const req = request({ port, host: "127.0.0.1", method, agent }, (res) => {
        res.resume();
        res.on("end", () => resolve(res.statusCode));
      });
      req.on("error", reject);
      req.end(body);
    });
  expect(await ask("POST", Buffer.alloc(4_000_000))).toBe(503);
  expect(await ask("GET")).toBe(200);
  expect(await ask("POST", Buffer.alloc(4_000_000))).toBe(503);
});
