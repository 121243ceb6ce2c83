import { afterEach, describe, expect, it, vi } from "vitest";
import { createClient } from "./client.ts";
import { parseKeys } from "./keys.ts";
import { createRpcServer, type RpcServer } from "./server.ts";
import type { Handlers, WatchState } from "./types.ts";

/** A generous timeout, because a busy machine may need longer. */
const slowly = { timeout: 8_000 };

const keys = parseKeys(`gateway/controller=k1:${Buffer.alloc(32, 1).toString("base64")}`);
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const identity = "harrier.controller.v1.DeviceIdentityService";
type Stream = Handlers<typeof identity>["watchCredentialChanges"];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serve(watchCredentialChanges: Stream, port = 0): Promise<[RpcServer, number]> {
  const server = createRpcServer({ service: "controller", host: "127.0.0.1", port, keys, log });
  server.add(identity, { verifyDevice: async () => ({ ok: true }), watchCredentialChanges });
  const bound = await server.start();
  cleanups.push(() => server.stop(0));
  return [server, bound];
}

function watch(port: number, silentAfterMs = 3_000) {
  const client = createClient(identity, { caller: "gateway", addresses: `127.0.0.1:${port}`, keys });
  cleanups.push(() => client.close());
  const messages: number[] = [];
  const states: WatchState[] = [];
  const handle = client.watch(
    "watchCredentialChanges",
    {},
    { silentAfterMs },
    (message) => void messages.push(message.revision),
    (state) => void states.push(state),
  );
  return { messages, states, handle };
}

const untilAborted = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

/** Sends heartbeats until the caller goes, and counts its streams. */
function heart(everyMs: number) {
  const open = { count: 0 };
  const stream: Stream = async (_request, ctx, send) => {
    open.count += 1;
    const beat = setInterval(() => void send({ heartbeat: true, revision: 1 }), everyMs);
    await untilAborted(ctx.signal);
    clearInterval(beat);
    open.count -= 1;
  };
  return { stream, open };
}

describe("watch", () => {
  it("delivers every message in order and reports when the stream is alive", async () => {
    const [, port] = await serve(async (_request, ctx, send) => {
      for (let revision = 1; revision <= 500; revision += 1) await send({ tenantId: 1, controllerId: "d1", revision });
      await untilAborted(ctx.signal);
    });
    const { messages, states } = watch(port);
    await vi.waitFor(() => expect(messages).toHaveLength(500), slowly);
    expect(messages).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    expect(states).toEqual(["alive"]);
  });

  it("delivers a burst in order while its reader is slow, without a warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    cleanups.push(() => process.off("warning", onWarning));
    const [, port] = await serve(async (_request, ctx, send) => {
      for (let revision = 1; revision <= 5_000; revision += 1) void send({ tenantId: 1, controllerId: "d1", revision });
      await untilAborted(ctx.signal);
    });
    const { messages, states } = watch(port);
    await vi.waitFor(() => expect(messages).toHaveLength(5_000), slowly);
    expect(messages).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
    expect(states).toEqual(["alive"]);
    expect(warnings).toEqual([]);
  });

  it("reopens the stream when too many messages wait to be sent", async () => {
    let opened = 0;
    const [, port] = await serve(async (_request, ctx, send) => {
      opened += 1;
      await send({ revision: opened });
      if (opened === 1) for (let n = 0; n <= 50_000; n += 1) void send({ revision: 0 });
      if (!ctx.signal.aborted) await untilAborted(ctx.signal);
    });
    const { messages, states } = watch(port);
    await vi.waitFor(() => expect(messages).toEqual([1, 2]), slowly);
    expect(states).toEqual(["alive", "interrupted", "alive"]);
  });

  it("reopens the stream when the server comes back", async () => {
    const { stream } = heart(20);
    const [server, port] = await serve(stream);
    const { states } = watch(port);
    await vi.waitFor(() => expect(states).toEqual(["alive"]), slowly);
    await server.stop(0);
    await vi.waitFor(() => expect(states).toEqual(["alive", "interrupted"]), slowly);
    await serve(stream, port);
    await vi.waitFor(() => expect(states).toEqual(["alive", "interrupted", "alive"]), slowly);
  });

  it("reopens the stream when the handler ends or fails", async () => {
    let opened = 0;
    const [, port] = await serve(async (_request, ctx, send) => {
      opened += 1;
      await send({ revision: opened });
      if (opened === 1) return;
      if (opened === 2) throw new Error("broke");
      await untilAborted(ctx.signal);
    });
    const { messages, states } = watch(port);
    await vi.waitFor(() => expect(messages).toEqual([1, 2, 3]), slowly);
    expect(states).toEqual(["alive", "interrupted", "alive", "interrupted", "alive"]);
  });

  it("reports when no messages come, and when they come again", async () => {
    let quiet = false;
    const [, port] = await serve(async (_request, ctx, send) => {
      const beat = setInterval(() => void (quiet || send({ heartbeat: true })), 20);
      await untilAborted(ctx.signal);
      clearInterval(beat);
    });
    const { states, messages } = watch(port, 200);
    await vi.waitFor(() => expect(messages.length).toBeGreaterThan(3), slowly);
    quiet = true;
    await vi.waitFor(() => expect(states).toEqual(["alive", "silent"]), slowly);
    quiet = false;
    await vi.waitFor(() => expect(states).toEqual(["alive", "silent", "alive"]), slowly);
  });

  it("reports silence when no server listens", async () => {
    const { states } = watch(1, 200);
    await vi.waitFor(() => expect(states).toEqual(["silent"]), slowly);
  });

  it("ends on both sides when it is stopped", async () => {
    const { stream, open } = heart(20);
    const [, port] = await serve(stream);
    const { handle, messages, states } = watch(port);
    await vi.waitFor(() => expect(messages.length).toBeGreaterThan(0), slowly);
    expect(open.count).toBe(1);
    handle.stop();
    await vi.waitFor(() => expect(open.count).toBe(0), slowly);
    expect(states).toEqual(["alive"]);
  });

  it("does not delay the server's stop", async () => {
    const { stream } = heart(20);
    const [server, port] = await serve(stream);
    const { states } = watch(port);
    await vi.waitFor(() => expect(states).toEqual(["alive"]), slowly);
    // the limit is longer than the test's timeout, so a stop that waited for the stream would fail the test
    await server.stop(60_000);
  });
});
