import { entityNotFound, HarrierError } from "@harrier/errors";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ClientOptions, createClient } from "./client.ts";
import { servicePrincipal } from "./identity.ts";
import { parseKeys } from "./keys.ts";
import { createRpcServer, type RpcServer } from "./server.ts";
import type { CallContext, CallReport, Handlers, OutCall } from "./types.ts";

const secret = (letter: string) => Buffer.from(letter.repeat(32)).toString("base64");
const keys = parseKeys(`controller=k1:${secret("a")};management=k1:${secret("b")}`);
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const actions = "harrier.controller.v1.ActionsService";
type ActionHandlers = Handlers<typeof actions>;

const unused = () => Promise.reject(new Error("not expected"));
const idle: ActionHandlers = {
  assignSet: unused,
  cancelAction: unused,
  forceAction: unused,
  openFence: unused,
  closeFence: unused,
  scheduleChunk: unused,
  startChunk: unused,
  noteDownloads: unused,
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  vi.clearAllMocks();
});

async function serve(
  handlers: Partial<ActionHandlers>,
  more: { observe?: (report: CallReport) => void } = {},
): Promise<[RpcServer, number]> {
  const server = createRpcServer({ service: "controller", host: "127.0.0.1", port: 0, keys, log, ...more });
  server.add(actions, { ...idle, ...handlers });
  const port = await server.start();
  cleanups.push(() => server.stop(0));
  return [server, port];
}

function connect(ports: number[], options: Partial<ClientOptions> = {}) {
  const addresses = ports.map((port) => `127.0.0.1:${port}`).join(",");
  const client = createClient(actions, { caller: "management", addresses, keys, ...options });
  cleanups.push(() => client.close());
  return client;
}

const call = (more: Partial<OutCall> = {}): OutCall => ({
  principal: { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: ["UPDATE_TARGET"] },
  rid: "r-1",
  deadline: Date.now() + 5_000,
  ...more,
});
const failure = (promise: Promise<unknown>): Promise<HarrierError> =>
  promise.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: HarrierError) => error,
  );
const force = { controllerId: "d1", actionId: 11 };

describe("a call", () => {
  it("brings numbers as numbers, absent members as defaults, and optional ones not at all", async () => {
    const seen: unknown[] = [];
    const [, port] = await serve({
      assignSet: async (request) => {
        seen.push(request);
        return { alreadyAssigned: 1, actions: [{ id: 2 ** 40, controllerId: "d1" }] };
      },
    });
    const answer = await connect([port]).assignSet(
      { set: { id: 11, name: "s" }, items: [{ controllerId: "d1" }] },
      call({ commandId: "c-1" }),
    );
    expect(answer).toEqual({ alreadyAssigned: 1, actions: [{ id: 2 ** 40, controllerId: "d1" }] });
    expect(seen).toEqual([
      {
        set: { id: 11, name: "s", version: "", typeId: 0, migrationStep: false },
        items: [{ controllerId: "d1", forceType: "", forceTime: 0, weight: 0 }],
        initiator: "",
      },
    ]);
  });

  it("brings principal, request id, trace, base URL, command id and what is left of the deadline", async () => {
    let ctx: CallContext | undefined;
    const [, port] = await serve({
      forceAction: async (_request, given) => {
        ctx = given;
        return {};
      },
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const deadline = Date.now() + 2_000;
    await connect([port]).forceAction(force, call({ traceparent, baseUrl: "http://h:1", commandId: "c-9", deadline }));
    expect(ctx).toMatchObject({ caller: "management", rid: "r-1", traceparent, baseUrl: "http://h:1", commandId: "c-9" });
    expect(ctx?.principal).toMatchObject({
      tenantId: 1,
      tenant: "DEFAULT",
      kind: "user",
      subject: "admin",
      permissions: ["UPDATE_TARGET"],
    });
    expect(ctx?.deadline).toBeLessThan(deadline);
    expect(ctx?.deadline).toBeGreaterThan(deadline - 500);
  });

  it("is reported on both sides", async () => {
    const reports: CallReport[] = [];
    const observe = (report: CallReport) => void reports.push(report);
    const [, port] = await serve(
      { forceAction: async () => ({}), cancelAction: () => Promise.reject(new HarrierError("actionNotCancelable")) },
      { observe },
    );
    const client = connect([port], { observe });
    await client.forceAction(force, call());
    await failure(client.cancelAction({ ...force }, call()));
    expect(reports.map(({ side, method, outcome }) => [side, method, outcome])).toEqual([
      ["server", "forceAction", "ok"],
      ["client", "forceAction", "ok"],
      ["server", "cancelAction", "actionNotCancelable"],
      ["client", "cancelAction", "actionNotCancelable"],
    ]);
  });
});

describe("an error", () => {
  it("arrives as the same error", async () => {
    const [, port] = await serve({ forceAction: () => Promise.reject(entityNotFound("Action", 4711)) });
    const error = await failure(connect([port]).forceAction(force, call()));
    expect(error).toBeInstanceOf(HarrierError);
    expect(error).toMatchObject({
      code: "entityNotFound",
      message: "Action with given identifier {4711} does not exist.",
      info: { type: "Action", entityId: 4711 },
    });
  });

  it("keeps parameters and text outside ASCII", async () => {
    const thrown = new HarrierError("quotaTooManyEntries", "zu viele Einträge für „Gerät“", { parameters: ["ä", "2"] });
    const [, port] = await serve({ forceAction: () => Promise.reject(thrown) });
    expect(await failure(connect([port]).forceAction(force, call()))).toMatchObject({ message: thrown.message, parameters: ["ä", "2"] });
  });

  it("of our own code is logged and crosses without its text", async () => {
    const [, port] = await serve({ forceAction: () => Promise.reject(new TypeError("secret detail")) });
    const error = await failure(connect([port]).forceAction(force, call()));
    expect(error.code).toBe("internal");
    expect(error.message).not.toContain("secret detail");
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ rid: "r-1" }), "call failed");
  });
});

describe("a deadline", () => {
  it("ends the call for the caller and aborts the handler", async () => {
    let aborted = false;
    const [, port] = await serve({
      forceAction: (_request, ctx) =>
        new Promise((resolve) => {
          ctx.signal.addEventListener("abort", () => {
            aborted = true;
            resolve({});
          });
        }),
    });
    const error = await failure(connect([port]).forceAction(force, call({ deadline: Date.now() + 300 })));
    expect(error.code).toBe("deadlineExceeded");
    await vi.waitFor(() => expect(aborted).toBe(true));
  });

  it("that leaves less than 100 ms is refused before the handler begins", async () => {
    const forceAction = vi.fn(async () => ({}));
    const [, port] = await serve({ forceAction });
    const client = connect([port]);
    await client.ready(2_000);
    const error = await failure(client.forceAction(force, call({ deadline: Date.now() + 90 })));
    expect(error.code).toBe("deadlineExceeded");
    expect(forceAction).not.toHaveBeenCalled();
  });

  it("that has passed is not even sent", async () => {
    const [, port] = await serve({});
    expect((await failure(connect([port]).forceAction(force, call({ deadline: Date.now() - 1 })))).code).toBe("deadlineExceeded");
  });

  it("is replaced by half a minute where the caller has none", async () => {
    let left = 0;
    const [, port] = await serve({
      forceAction: async (_request, ctx) => {
        left = ctx.remaining();
        return {};
      },
    });
    await connect([port]).forceAction(force, call({ deadline: Number.POSITIVE_INFINITY }));
    expect(left).toBeGreaterThan(25_000);
    expect(left).toBeLessThan(31_000);
  });
});

describe("the server", () => {
  it("refuses a caller that the table does not list for the method", async () => {
    const [, port] = await serve({ assignSet: async () => ({}), noteDownloads: async () => ({ noted: 1 }) });
    const store = connect([port], { caller: "artifact-store" });
    expect(await store.noteDownloads({ downloads: [] }, call({ commandId: "c" }))).toEqual({ noted: 1 });
    expect((await failure(store.assignSet({}, call({ commandId: "c" })))).code).toBe("insufficientPermission");
    expect((await failure(connect([port]).noteDownloads({}, call({ commandId: "c" })))).code).toBe("insufficientPermission");
  });

  it("refuses an identity under a key it does not hold", async () => {
    const [, port] = await serve({ forceAction: async () => ({}) });
    const foreign = parseKeys(`controller=k1:${secret("x")}`);
    expect((await failure(connect([port], { keys: foreign }).forceAction(force, call()))).code).toBe("unauthenticated");
    expect(log.warn).toHaveBeenCalled();
  });

  it("refuses a command without an id", async () => {
    const [, port] = await serve({ assignSet: async () => ({}) });
    expect((await failure(connect([port]).assignSet({}, call()))).code).toBe("internal");
  });

  it("serves only proto services of its own, and all their methods", async () => {
    const server = createRpcServer({ service: "management", host: "127.0.0.1", port: 0, keys, log });
    expect(() => server.add(actions, idle)).toThrow("served by controller");
    const { forceAction: _missing, ...rest } = idle;
    const controller = createRpcServer({ service: "controller", host: "127.0.0.1", port: 0, keys, log });
    expect(() => controller.add(actions, rest as ActionHandlers)).toThrow("forceAction has no handler");
  });

  it("lets a running call finish when it stops", async () => {
    const [server, port] = await serve({
      forceAction: () => new Promise((resolve) => setTimeout(() => resolve({}), 200)),
    });
    const client = connect([port]);
    const running = client.forceAction(force, call());
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.stop(2_000);
    await expect(running).resolves.toEqual({});
  });
});

describe("a retry", () => {
  const flaky = (failures: number) => {
    let attempts = 0;
    const handler = async () => {
      attempts += 1;
      if (attempts <= failures) throw new HarrierError("unavailable");
      return {};
    };
    return { handler, attempts: () => attempts };
  };

  it("repeats an idempotent call twice at most", async () => {
    const two = flaky(2);
    const three = flaky(3);
    const [, port] = await serve({ forceAction: two.handler, openFence: three.handler });
    const client = connect([port]);
    await client.forceAction(force, call());
    expect(two.attempts()).toBe(3);
    expect((await failure(client.openFence({ rolloutId: 1 }, call()))).code).toBe("unavailable");
    expect(three.attempts()).toBe(3);
  });

  it("repeats no other call, unless it has a command id", async () => {
    const bare = flaky(1);
    const [, port] = await serve({ cancelAction: bare.handler });
    const client = connect([port]);
    expect((await failure(client.cancelAction(force, call()))).code).toBe("unavailable");
    expect(bare.attempts()).toBe(1);
    const command = flaky(1);
    const [, other] = await serve({ cancelAction: command.handler });
    await connect([other]).cancelAction(force, call({ commandId: "c-1" }));
    expect(command.attempts()).toBe(2);
  });

  it("repeats no other error", async () => {
    const forceAction = vi.fn(() => Promise.reject(new HarrierError("concurrentModification")));
    const [, port] = await serve({ forceAction });
    await failure(connect([port]).forceAction(force, call()));
    expect(forceAction).toHaveBeenCalledTimes(1);
  });

  it("finds the other replica when the one that had the call is cut off", async () => {
    const servers: RpcServer[] = [];
    let taken = 0;
    const handlers = (index: number) => ({
      forceAction: async () => {
        taken += 1;
        if (taken > 1) return {};
        void servers[index]?.stop(0);
        return new Promise<never>(() => undefined);
      },
    });
    const [first, a] = await serve(handlers(0));
    const [second, b] = await serve(handlers(1));
    servers.push(first, second);
    await connect([a, b]).forceAction(force, call());
    expect(taken).toBe(2);
  });

  it("uses replicas in turn", async () => {
    const counts = [0, 0];
    const counting = (index: 0 | 1) => ({
      forceAction: async () => {
        counts[index] = (counts[index] ?? 0) + 1;
        return {};
      },
    });
    const [, a] = await serve(counting(0));
    const [, b] = await serve(counting(1));
    const client = connect([a, b]);
    await vi.waitFor(async () => {
      await client.forceAction(force, call());
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(3);
    });
  });

  it("gives up as unavailable when nobody listens", async () => {
    const began = Date.now();
    const error = await failure(connect([1]).forceAction(force, call()));
    expect(error.code).toBe("unavailable");
    expect(Date.now() - began).toBeLessThan(2_000);
  });

  it("connects again soon after the server is back", async () => {
    const [server, port] = await serve({ forceAction: async () => ({}) });
    const client = connect([port]);
    await client.forceAction(force, call());
    await server.stop(0);
    expect((await failure(client.forceAction(force, call()))).code).toBe("unavailable");
    const again = createRpcServer({ service: "controller", host: "127.0.0.1", port, keys, log });
    again.add(actions, { ...idle, forceAction: async () => ({}) });
    await again.start();
    cleanups.push(() => again.stop(0));
    await vi.waitFor(() => client.forceAction(force, call()), { timeout: 4_000, interval: 100 });
  });
});

it("a service may act for itself", async () => {
  let kind: string | undefined;
  const [, port] = await serve({
    closeFence: async (_request, ctx) => {
      kind = `${ctx.principal.kind} ${ctx.principal.subject} ${ctx.principal.tenant}`;
      return {};
    },
  });
  const principal = servicePrincipal("rollout-engine", { id: 1, name: "DEFAULT" });
  await connect([port], { caller: "rollout-engine" }).closeFence({}, call({ principal }));
  expect(kind).toBe("service rollout-engine DEFAULT");
});
