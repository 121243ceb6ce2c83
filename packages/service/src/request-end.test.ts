import { setTimeout as sleep } from "node:timers/promises";
import { isExpensive, ok, pageQuery, type Route, route, routes } from "@harrier/contracts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ask, serve, user } from "../test-support/serve.ts";
import type { Mount } from "./mount.ts";
import { budgetHeader } from "./request-context.ts";
import { TenantLimiter } from "./tenant-limiter.ts";

const shape = { service: "controller", interface: "management", success: ok, permission: [], errors: [], summary: "", source: "" } as const;
const list = route({ ...shape, id: "list", method: "GET", path: "/things", query: pageQuery, response: z.unknown() });
const point = route({ ...shape, id: "point", method: "GET", path: "/things/:id", response: z.unknown() });
const change = route({ ...shape, id: "change", method: "PUT", path: "/things/:id", body: z.object({}), response: z.unknown() });
const poll = route({
  ...shape,
  interface: "device",
  success: { device: 200 },
  id: "device.poll",
  method: "GET",
  path: "/:tenant/controller/v1/:controllerId",
  response: z.unknown(),
});

type Scope = { roundTrips: number; signal?: AbortSignal | undefined; limiter?: { run<T>(work: () => Promise<T>): Promise<T> } | undefined };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Starts a service whose handlers run `work`; `scopes` are what its statements saw. */
async function bench(work: (scope: Scope) => Promise<unknown>, limiter?: TenantLimiter) {
  const scopes: Scope[] = [];
  const register = (mount: Mount) => {
    for (const one of [list, point, change, poll]) mount(one as Route, async () => ({ body: { ok: await work(scopes.at(-1) as Scope) } }));
  };
  const countRoundTrips = <T>(scope: Scope, run: () => T): T => {
    scopes.push(scope);
    return run();
  };
  const served = await serve(register, { countRoundTrips, ...(limiter === undefined ? {} : { limiter }) });
  closing.push(() => served.http.close(0));
  return { served, scopes };
}

const forUser = { identity: user() };
/** Waits until the signal aborts, and answers its reason. */
const untilOver = (scope: Scope) =>
  new Promise((_, reject) => scope.signal?.addEventListener("abort", () => reject(scope.signal?.reason), { once: true }));

describe("a request's statements end", () => {
  it("with its deadline", async () => {
    const { served } = await bench(untilOver);
    const answer = await ask(served, "/api/mgmt/v1/things/1", { ...forUser, headers: { [budgetHeader]: "150" } });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([504, "2"]);
  });

  it("when the client of a read goes; a change continues", async () => {
    const reasons: unknown[] = [];
    const { served, scopes } = await bench(async (scope) => {
      await Promise.race([untilOver(scope).catch((reason: unknown) => reasons.push(reason)), sleep(400)]);
      if (scope.signal?.aborted === false) reasons.push("went on");
    });
    for (const [method, path] of [
      ["GET", "/api/mgmt/v1/things"],
      ["PUT", "/api/mgmt/v1/things/1"],
    ] as const) {
      const before = scopes.length;
      const abort = new AbortController();
      const body = method === "PUT" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
      const gone = ask(served, path, { ...forUser, method, ...body, signal: abort.signal }).catch(() => "gone");
      await vi.waitFor(() => expect(scopes.length).toBe(before + 1));
      abort.abort();
      expect(await gone).toBe("gone");
    }
    await vi.waitFor(() => expect(reasons).toHaveLength(2));
    expect(reasons[0]).toMatchObject({ code: "unavailable" });
    expect(reasons[1]).toBe("went on");
  });

  it("never after the handler has ended, and never for a device", async () => {
    const { served, scopes } = await bench(async (scope) => scope.signal !== undefined);
    expect((await ask(served, "/api/mgmt/v1/things/1", forUser)).json).toEqual({ ok: true });
    expect(scopes[0]).toMatchObject({ signal: undefined, limiter: undefined });
    expect((await ask(served, "/DEFAULT/controller/v1/d1")).json).toEqual({ ok: false });
  });
});

describe("the limiter of a tenant", () => {
  it("limits expensive routes only", async () => {
    const { served } = await bench(async (scope) => scope.limiter !== undefined, new TenantLimiter());
    const requested = ["/api/mgmt/v1/things", "/rest/v1/things", "/api/mgmt/v1/things/1", "/DEFAULT/controller/v1/d1"];
    const answers = await Promise.all(requested.map((path) => ask(served, path, path.startsWith("/DEFAULT") ? {} : forUser)));
    expect(answers.map(({ json }) => (json as { ok: boolean }).ok)).toEqual([true, true, false, false]);
  });

  it("refuses with 429 and a retry time if too many wait", async () => {
    const { served } = await bench(
      (scope) => scope.limiter?.run(() => sleep(300)) ?? sleep(0),
      new TenantLimiter({ perTenant: 1, total: 1, waiting: 1 }),
    );
    const answers = await Promise.all([1, 2, 3].map(() => ask(served, "/api/mgmt/v1/things", forUser)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    expect(answers.find(({ status }) => status === 429)?.headers["retry-after"]).toBe("1");
  });

  it("applies to every operation of the contract that takes a query or shows a page", () => {
    const named = ({ query }: Route): string[] =>
      query === undefined ? [] : Object.keys(z.toJSONSchema(query, { io: "input", unrepresentable: "any" }).properties ?? {});
    const taking = routes.filter((row) => named(row).some((name) => ["q", "offset", "sort"].includes(name)));
    expect(taking.length).toBeGreaterThan(30);
    expect(taking.filter((row) => !isExpensive(row)).map(({ id }) => id)).toEqual([]);
    const byName = [
      "rollouts.preview",
      "rollouts.create",
      "rollouts.report",
      "rollouts.groupReport",
      "rollouts.reportCsv",
      "rollouts.groupReportCsv",
      "rollouts.insights",
      "rollouts.insightsCsv",
      "rollouts.groupInsights",
      "rollouts.groupInsightsCsv",
      "insights.currentRollouts",
      "audit.verify",
      "events.list",
      "events.stream",
      "search.find",
      "targetGroups.list",
      "targets.change",
      "targets.suggest",
      "distributionSets.statistics",
      "distributionSets.rolloutStatistics",
      "distributionSets.actionStatistics",
      "distributionSets.autoAssignmentStatistics",
      "distributionSets.invalidationPreview",
    ];
    expect(
      routes
        .filter(isExpensive)
        .filter((row) => !taking.includes(row))
        .map(({ id }) => id)
        .sort(),
    ).toEqual(byName.sort());
  });
});
