import { deviceOk, ok, route } from "@harrier/contracts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ask, type Served, serve, user } from "../test-support/serve.ts";
import type { HttpOptions } from "./http.ts";
import type { Mount } from "./mount.ts";

/** A generous timeout, because a busy machine may need longer. */
const slowly = { timeout: 8_000 };

const device = {
  service: "controller",
  interface: "device",
  success: deviceOk,
  permission: [],
  errors: [],
  summary: "",
  source: "",
} as const;
const poll = route({ ...device, id: "device.poll", method: "GET", path: "/:tenant/controller/v1/:controllerId", response: z.unknown() });
const slow = route({ ...device, id: "slow", method: "GET", path: "/:tenant/slow", response: z.unknown() });
const list = route({
  ...device,
  interface: "management",
  success: ok,
  id: "targets.list",
  method: "GET",
  path: "/targets",
  response: z.unknown(),
});

const open: Served[] = [];
afterEach(async () => {
  for (const served of open.splice(0)) await served.http.close(0);
});
const start = async (register: (mount: Mount) => void, options: Partial<HttpOptions> = {}) => {
  const served = await serve(register, options);
  open.push(served);
  return served;
};
const bare = { identity: null };

describe("operational endpoints", () => {
  it("answer whether the process lives and whether it is ready, with reasons", async () => {
    let views: string[] = ["management.tenants_v1"];
    const readiness = {
      database: vi.fn(async () => undefined),
      views: async () => views,
      broken: async () => {
        if (views.length > 0) throw new Error("connection refused");
      },
    };
    const served = await start(() => undefined, { readiness });
    expect((await ask(served, "/livez", bare)).status).toBe(200);
    const waiting = await ask(served, "/readyz", bare);
    expect([waiting.status, waiting.json]).toEqual([
      503,
      { ready: false, checks: { database: "ok", views: "missing: management.tenants_v1", broken: "connection refused" } },
    ]);
    views = [];
    await vi.waitFor(async () => expect((await ask(served, "/readyz", bare)).status).toBe(200), slowly);
    // the result is cached for 500 ms, however often it is requested
    expect(readiness.database.mock.calls.length).toBeLessThanOrEqual(3);
  });

  it("stay ready with a warning", async () => {
    const readiness = { database: async () => true, storage: async () => ({ warning: "disk below reserve" }) };
    const answer = await ask(await start(() => undefined, { readiness }), "/readyz", bare);
    expect([answer.status, answer.json]).toEqual([
      200,
      { ready: true, checks: { database: "ok", storage: "degraded: disk below reserve" } },
    ]);
  });

  it("count requests by pattern, never by path", async () => {
    const served = await start((mount) => mount(poll, async () => ({ body: {} })));
    await ask(served, "/DEFAULT/controller/v1/secret-device");
    await ask(served, "/DEFAULT/controller/v1/other-device");
    const { text } = await ask(served, "/metrics", bare);
    expect(text).toContain(
      'harrier_http_request_seconds_count{service="controller",method="GET",route="/:tenant/controller/v1/:controllerId",status="200"} 2',
    );
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).not.toContain("secret-device");
  });

  it("hide metrics on a public port", async () => {
    const served = await start(() => undefined, { exposeMetrics: false });
    expect((await ask(served, "/metrics", bare)).status).toBe(404);
  });
});

describe("the log line of a request", () => {
  it("names the caller, the request and its duration, without credentials", async () => {
    const countRoundTrips = <T>(counter: { roundTrips: number }, work: () => T): T => {
      counter.roundTrips += 2;
      return work();
    };
    const served = await start((mount) => mount(list, async () => ({ body: {} })), { countRoundTrips });
    await ask(served, "/api/mgmt/v1/targets", { identity: user(), headers: { authorization: "Basic c2VjcmV0" } });
    const line = served.lines.find((entry) => entry["msg"] === "request");
    expect(line).toMatchObject({
      level: "info",
      rid: "r-1",
      tenant: "DEFAULT",
      principal: "admin",
      route: "GET /api/mgmt/v1/targets",
      status: 200,
      roundTrips: 2,
    });
    expect(line?.["ms"]).toEqual(expect.any(Number));
    expect(JSON.stringify(served.lines)).not.toContain("c2VjcmV0");
  });

  it("is at level debug for a successful poll", async () => {
    const served = await start((mount) => mount(poll, async () => ({ body: {} })));
    await ask(served, "/DEFAULT/controller/v1/d1");
    await ask(served, "/DEFAULT/controller/v1/d1", { headers: { accept: "text/html" } });
    expect(served.lines.map(({ level, status }) => [level, status])).toEqual([
      ["debug", 200],
      ["info", 406],
    ]);
  });
});

describe("an answer that cannot be sent", () => {
  it("is no error of ours if the client hung up", async () => {
    let gone: (() => void) | undefined;
    const served = await start((mount) =>
      mount(slow, async (ctx) => {
        await new Promise<void>((resolve) => {
          ctx.res.once("close", resolve);
          gone = resolve;
        });
        throw new Error("premature close");
      }),
    );
    const aborted = new AbortController();
    const requested = ask(served, "/DEFAULT/slow", { signal: aborted.signal }).catch(() => "hung up");
    await vi.waitFor(() => expect(gone).toBeDefined(), slowly);
    aborted.abort();
    expect(await requested).toBe("hung up");
    await vi.waitFor(() => expect(served.lines.map(({ level, status }) => [level, status])).toEqual([["info", 499]]), slowly);
  });

  it("is 500 because of an impossible header, and the process lives on", async () => {
    const served = await start((mount) => mount(slow, async () => ({ body: {}, headers: { "x-name": "ä\nö" } })));
    expect((await ask(served, "/DEFAULT/slow")).status).toBe(500);
    expect((await ask(served, "/livez", bare)).status).toBe(200);
  });

  it("breaks the connection if its beginning was sent", async () => {
    const served = await start((mount) =>
      mount(slow, async (ctx) => {
        ctx.res.writeHead(200, { "content-length": 10 });
        ctx.res.write("half");
        throw new Error("disk broke");
      }),
    );
    await expect(ask(served, "/DEFAULT/slow")).rejects.toThrow();
    expect(served.lines.at(-1)).toMatchObject({ level: "error", code: "internal" });
  });
});

describe("the end of a server", () => {
  it("lets running requests finish, announces it, and then closes what is left", async () => {
    let finish: (() => void) | undefined;
    const served = await start((mount) =>
      mount(slow, async () => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { body: { done: true } };
      }),
    );
    const running = ask(served, "/DEFAULT/slow");
    await vi.waitFor(() => expect(finish).toBeDefined(), slowly);
    const closing = served.http.close(2_000);
    await expect(ask(served, "/livez", bare)).rejects.toThrow();
    finish?.();
    expect((await running).json).toEqual({ done: true });
    await closing;
  });

  it("does not wait longer than its timeout", async () => {
    const served = await start((mount) => mount(slow, () => new Promise<never>(() => undefined)));
    const running = ask(served, "/DEFAULT/slow").catch(() => "cut");
    await vi.waitFor(async () => expect((await ask(served, "/livez", bare)).status).toBe(200), slowly);
    await served.http.close(200);
    expect(await running).toBe("cut");
  });
});

it("listen rejects if the port is taken", async () => {
  const served = await start(() => undefined);
  const { http } = await serve(() => undefined);
  await expect(http.listen("127.0.0.1", served.port)).rejects.toThrow("EADDRINUSE");
  await http.close(0);
});
