import { bodiless, created, ok, type Route, route } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ask, type Served, serve, user } from "../test-support/serve.ts";
import { auditDetails } from "./audit-details.ts";
import type { AuditedCall, AuditedOutcome, CallAudit } from "./audited.ts";

const row = { service: "controller", interface: "management", permission: ["CHANGE"], errors: [], summary: "", source: "" } as const;
const body = z.array(z.object({ controllerId: z.string(), name: z.string().optional(), securityToken: z.string().optional() }));
const create = route({ ...row, id: "targets.create", method: "POST", path: "/targets", body, success: created, response: z.unknown() });
const remove = route({ ...row, id: "targets.delete", method: "DELETE", path: "/targets/:targetId", success: bodiless });
const list = route({ ...row, id: "targets.list", method: "GET", path: "/targets", success: ok, response: z.unknown() });

const base = "/api/mgmt/v1/targets";
let kept: { call: AuditedCall; outcome?: AuditedOutcome; begun: boolean }[];
let broken: "begin" | "end" | undefined;
let worked: number;
let served: Served;

const audit: CallAudit = {
  async begin(call) {
    if (broken === "begin") throw new HarrierError("unavailable");
    const entry: (typeof kept)[number] = { call, begun: true };
    kept.push(entry);
    return async (outcome) => {
      if (broken === "end") throw new Error("the database went away");
      entry.outcome = outcome;
    };
  },
  async refused(call, outcome) {
    kept.push({ call, outcome, begun: false });
  },
};

beforeEach(async () => {
  kept = [];
  broken = undefined;
  worked = 0;
  served = await serve(
    (mount) => {
      mount(create, async (ctx) => {
        worked += 1;
        // this is what the database holds while the work is done
        expect(kept).toMatchObject([{ begun: true }]);
        return { body: ctx.body.map((item) => ({ ...item, id: 7 })) };
      });
      mount(remove, async () => {
        worked += 1;
        throw new HarrierError("locked");
      });
      mount(list, async () => ({ body: [] }));
    },
    { audit },
  );
});
afterEach(() => served.http.close(0));

const identity = user("CHANGE");
const headers = { "content-type": "application/json", "x-forwarded-for": "10.1.2.3" };
const post = (value: unknown, as = identity) => ask(served, base, { method: "POST", body: JSON.stringify(value), headers, identity: as });

describe("a changing call", () => {
  it("is recorded before its work, and its outcome before its answer", async () => {
    expect((await post([{ controllerId: "a\u0000b", name: "n", securityToken: "s3cret" }])).status).toBe(201);
    const subject = { tenantId: 1, actorKind: "USER", actor: "admin", action: "targets.create", entity: "target", sourceIp: "10.1.2.3" };
    expect(kept).toMatchObject([{ call: { ...subject, requestId: "r-1" }, outcome: { status: 201, entityIds: ["a?b"] } }]);
    expect(kept[0]?.call.details).not.toContain("s3cret");
  });

  it("is recorded once if it is refused early or fails", async () => {
    await post([{ controllerId: 5 }]);
    await post([], user());
    await ask(served, `${base}/x%00y`, { method: "DELETE", identity });
    expect(kept.map(({ begun, outcome }) => [begun, outcome])).toEqual([
      [false, { status: 400, errorCode: expect.any(String) }],
      [false, { status: 403, errorCode: "insufficientPermission" }],
      [true, { status: expect.any(Number), errorCode: "locked" }],
    ]);
    expect(kept[2]?.call).toMatchObject({ action: "targets.delete", entityIds: ["x?y"] });
  });

  it("is not executed if it cannot be recorded", async () => {
    broken = "begin";
    expect((await post([{ controllerId: "a" }])).status).toBe(503);
    expect(worked).toBe(0);
  });

  it("is answered even if its outcome cannot be recorded", async () => {
    broken = "end";
    expect((await post([{ controllerId: "a" }])).status).toBe(201);
    expect(served.lines.some((line) => line["level"] === "error" && line["route"] === "targets.create")).toBe(true);
  });

  it("is not recorded without a principal, and a read never is", async () => {
    await ask(served, base, { method: "POST", body: "[]", headers, identity: null });
    await ask(served, base, { identity });
    expect(kept).toEqual([]);
  });
});

describe("the audit fields of a body", () => {
  const of = (id: string) => ({ id }) as Route;
  it("are those that the contract lists for the route", () => {
    expect(JSON.parse(auditDetails(of("users.create"), [{ name: "n", password: "p", permissions: ["A"] }]))).toEqual({
      items: 1,
      values: [{ name: "n", permissions: ["A"] }],
    });
    expect(auditDetails(of("users.changePassword"), { newPassword: "p" })).toBe("{}");
    expect(auditDetails(of("unheard.of"), { name: "n" })).toBe("{}");
    expect(JSON.parse(auditDetails(of("configs.putMany"), { a: "secret", b: 1 }))).toEqual({ values: ["a", "b"] });
    expect(JSON.parse(auditDetails(of("users.addPermissions"), ["A", "B"]))).toEqual({ items: 2, values: ["A", "B"] });
  });

  it("have a limited length", () => {
    const long = "x".repeat(100_000);
    const many = Array.from({ length: 5_000 }, () => ({ controllerId: long, name: long, targetType: long }));
    expect(auditDetails(of("targets.create"), many).length).toBeLessThan(5_000);
    expect(
      auditDetails(of("roles.create"), { name: long, permissions: Array.from({ length: 999 }, () => [[[[long]]]]) }).length,
    ).toBeLessThan(5_000);
    expect(auditDetails(of("targets.create"), [])).toBe('{"items":0,"values":[]}');
  });
});
