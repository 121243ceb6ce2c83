import { entityNotFound, HarrierError } from "@harrier/errors";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type ActionHandlers,
  actions,
  call,
  cleanUp,
  connect,
  failure,
  force,
  idle,
  keys,
  log,
  secret,
  serve,
} from "../test-support/actions.ts";
import { servicePrincipal } from "./identity.ts";
import { parseKeys } from "./keys.ts";
import { createRpcServer } from "./server.ts";
import type { CallContext, CallReport } from "./types.ts";

/** A generous timeout, because a busy machine may need longer. */
const slowly = { timeout: 8_000 };

afterEach(cleanUp);

describe("a call", () => {
  it("delivers numbers as numbers, absent members as defaults, and leaves out optional ones", async () => {
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
        items: [{ controllerId: "d1", forceType: "", forceTime: 0, weight: 0, maintenanceWindow: null, setIndex: 0 }],
        initiator: "",
      },
    ]);
  });

  it("delivers principal, request id, trace, base URL, command id and the remaining deadline", async () => {
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
    expect(ctx?.deadline).toBeLessThanOrEqual(deadline);
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

  it("of our own code is logged and arrives without its text", async () => {
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
    const client = connect([port]);
    await client.ready(8_000);
    const error = await failure(client.forceAction(force, call({ deadline: Date.now() + 1_500 })));
    expect(error.code).toBe("deadlineExceeded");
    await vi.waitFor(() => expect(aborted).toBe(true), slowly);
  });

  it("of less than 100 ms is refused before the handler begins", async () => {
    const forceAction = vi.fn(async () => ({}));
    const [, port] = await serve({ forceAction });
    const client = connect([port]);
    await client.ready(2_000);
    const error = await failure(client.forceAction(force, call({ deadline: Date.now() + 90 })));
    expect(error.code).toBe("deadlineExceeded");
    expect(forceAction).not.toHaveBeenCalled();
    expect(log.warn).not.toHaveBeenCalled();
  });

  it("that has passed is not even sent", async () => {
    const [, port] = await serve({});
    expect((await failure(connect([port]).forceAction(force, call({ deadline: Date.now() - 1 })))).code).toBe("deadlineExceeded");
  });

  it("is half a minute if the caller has none", async () => {
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
    const own = call({ commandId: "c", principal: servicePrincipal("artifact-store") });
    expect(await store.noteDownloads({ downloads: [] }, own)).toEqual({ noted: 1 });
    expect((await failure(store.assignSet({}, call({ commandId: "c" })))).code).toBe("insufficientPermission");
    expect((await failure(connect([port]).noteDownloads({}, call({ commandId: "c" })))).code).toBe("insufficientPermission");
  });

  it("refuses an identity under a key that it does not hold", async () => {
    const [, port] = await serve({ forceAction: async () => ({}) });
    const foreign = parseKeys(`management/controller=k1:${secret("x")}`);
    const client = connect([port], { keys: foreign });
    for (let n = 0; n < 3; n += 1) expect((await failure(client.forceAction(force, call()))).code).toBe("identityRefused");
    // they are logged once, however many there are
    expect(log.warn).toHaveBeenCalledTimes(1);
  });

  it("refuses a command without an id", async () => {
    const [, port] = await serve({ assignSet: async () => ({}) });
    expect((await failure(connect([port]).assignSet({}, call()))).code).toBe("internal");
  });

  it("serves only its own proto services, with all their methods", async () => {
    const server = createRpcServer({ service: "management", host: "127.0.0.1", port: 0, keys, log });
    expect(() => server.add(actions, idle)).toThrow("served by controller");
    const { forceAction: _missing, ...rest } = idle;
    const controller = createRpcServer({ service: "controller", host: "127.0.0.1", port: 0, keys, log });
    expect(() => controller.add(actions, rest as ActionHandlers)).toThrow("forceAction has no handler");
  });

  it("lets a running call finish when it stops", async () => {
    let end: (() => void) | undefined;
    const [server, port] = await serve({
      forceAction: () =>
        new Promise((resolve) => {
          end = () => resolve({});
        }),
    });
    const running = connect([port]).forceAction(force, call());
    await vi.waitFor(() => expect(end).toBeDefined(), slowly);
    const stopped = server.stop(8_000);
    setTimeout(() => end?.(), 100);
    await stopped;
    await expect(running).resolves.toEqual({});
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
