import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createProbes } from "./probes.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Starts a replica; its connections are counted, and it may be ended as the system ends a process that dies. */
async function startReplica() {
  const state = { asked: 0, answered: 0, ready: true, sockets: new Set<Socket>(), connections: 0 };
  const server: Server = createServer((_req, res) => {
    state.asked += 1;
    res.statusCode = state.ready ? 200 : 503;
    res.on("finish", () => {
      state.answered += 1;
    });
    res.end("{}");
  });
  server.on("connection", (socket) => {
    state.connections += 1;
    state.sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const die = (): void => {
    server.close();
    for (const socket of state.sockets) socket.destroy();
  };
  ends.push(die);
  const replica = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ready: false, clockAheadMs: undefined };
  return { state, replica, die };
}

function probesAt() {
  const clock = { ms: 0 };
  const probes = createProbes(undefined, () => clock.ms);
  ends.push(() => probes.stop());
  return { clock, probes };
}

test("a replica is asked each time until it has been ready for long, then every one and a half seconds, over one connection", async () => {
  const { state, replica } = await startReplica();
  const { clock, probes } = probesAt();
  const askAt = (ms: number): void => {
    clock.ms = ms;
    probes.ask(replica);
  };
  // A probe that should not have been would be seen with the next one: the count is that of all.
  const reach = (count: number) => vi.waitUntil(() => state.asked === count && state.answered === count, { timeout: 10_000 });
  for (const [i, ms] of [0, 500, 5_000, 9_500].entries()) {
    askAt(ms);
    await reach(i + 1);
  }
  await vi.waitUntil(() => replica.ready);
  askAt(10_500);
  askAt(11_000);
  await reach(5);
  askAt(12_000);
  askAt(12_500);
  await reach(6);
  expect(state.connections).toBe(1);
  state.ready = false;
  askAt(14_000);
  await vi.waitUntil(() => !replica.ready);
  // from now on it is asked each time again
  askAt(14_500);
  await reach(8);
});

test("the end of its connection is noticed between two probes", async () => {
  const { replica, die } = await startReplica();
  const { clock, probes } = probesAt();
  probes.ask(replica);
  await vi.waitUntil(() => replica.ready);
  clock.ms = 60_000;
  die();
  await vi.waitUntil(() => !replica.ready);
});

test("a replica that closes its connection and serves on is asked again, and stays ready", async () => {
  const { state, replica } = await startReplica();
  const { probes } = probesAt();
  probes.ask(replica);
  await vi.waitUntil(() => replica.ready);
  for (const socket of state.sockets) socket.end();
  await vi.waitUntil(() => state.asked === 2);
  expect(replica.ready).toBe(true);
});
