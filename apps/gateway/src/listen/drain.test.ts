import { Agent, createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, beforeEach, expect, test } from "vitest";
import { healthRouter } from "../health/health.ts";
import { arrival } from "../routing/edge.fixture.ts";
import { Drain } from "./drain.ts";

let drain: Drain;
let server: Server;
let port: number;
let now: number;
let signInWorks: boolean;
let clockIsWrong: boolean;
const agent = new Agent({ keepAlive: true });

beforeEach(async () => {
  drain = new Drain({ pauseMs: 500, endMs: 700 });
  now = 0;
  signInWorks = true;
  clockIsWrong = false;
  const states = () => ({ controller: true }) as never;
  const upstreams = { allReady: () => false, states, wrongClocks: () => ({}), isOwnClockWrong: () => clockIsWrong };
  const health = healthRouter({ upstreams, canSignIn: () => signInWorks, isDraining: drain.isDraining, now: () => now });
  const app = express().use(health);
  app.get("/transfer/:ms", (req, res) => {
    res.write("begun ");
    setTimeout(() => res.end("ended"), Number(req.params.ms));
  });
  server = createServer({ keepAliveTimeout: 60_000 }, app);
  drain.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
});

const ask = (path: string) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, path, agent }, (res: IncomingMessage) => {
      let text = "";
      res.on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => resolve({ status: res.statusCode, text }));
      res.on("error", reject);
    });
    req.on("error", reject);
    req.end();
  });
const status = async (path: string) => (await ask(path)).status;

test("the readiness for balancers is that of this gateway, whatever service is down", async () => {
  expect([await status("/livez"), await status("/readyz"), await status("/readyz/self")]).toEqual([200, 503, 200]);
  signInWorks = false;
  expect(await status("/readyz/self")).toBe(503);
  // An owner of credentials that stays unavailable does not block requests to the others.
  now = 10_000;
  expect(await status("/readyz/self")).toBe(200);
  // Services deny what it signs, so another gateway serves better.
  clockIsWrong = true;
  expect(await status("/readyz/self")).toBe(503);
});

test("after the signal it reports not ready, serves on for a pause, and completes running requests", async () => {
  const transfer = ask("/transfer/800");
  await arrival();
  const stopped = drain.stop();
  transfer.catch(() => undefined);
  expect([await status("/readyz/self"), await status("/readyz"), await status("/livez")]).toEqual([503, 503, 200]);
  expect(await status("/transfer/1")).toBe(200);
  const served = () =>
    status("/livez").then(
      () => true,
      () => false,
    );
  await expect.poll(served).toBe(false);
  expect(await transfer).toEqual({ status: 200, text: "begun ended" });
  await stopped;
});

test("requests that do not end are cut", async () => {
  const transfer = ask("/transfer/60000");
  const cut = expect(transfer).rejects.toThrow();
  await arrival();
  await drain.stop();
  await cut;
});
