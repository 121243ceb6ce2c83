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
  const state = { asked: 0, ready: true, sockets: new Set<Socket>(), connections: 0 };
  const server: Server = createServer((_req, res) => {
    state.asked += 1;
    res.statusCode = state.ready ? 200 : 503;
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

test("a replica is asked each time until it has been ready for long, then every three seconds, over one connection", async () => {
  const { state, replica } = await startReplica();
  const { clock, probes } = probesAt();
  const asked = async (ms: number): Promise<number> => {
    clock.ms = ms;
    const before = state.asked;
    probes.ask(replica);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return state.asked - before;
  };
  for (const ms of [0, 500, 5_000, 9_500]) expect(await asked(ms), `${ms} ms`).toBe(1);
  expect(replica.ready).toBe(true);
  expect(await asked(10_500)).toBe(0);
  expect(await asked(12_500)).toBe(1);
  expect(await asked(15_000)).toBe(0);
  expect(await asked(15_500)).toBe(1);
  expect(state.connections).toBe(1);
  state.ready = false;
  expect(await asked(18_500)).toBe(1);
  expect(replica.ready).toBe(false);
  // from now on it is asked each time again
  expect(await asked(19_000)).toBe(1);
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
