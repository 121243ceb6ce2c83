import { type AutoConfirmView, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import { viewer } from "../support/look.ts";

describe.each(dialects)("auto-confirmation of a target, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const done = dialect === "spec" ? 200 : 204;
  const one = (targetId: string, body?: unknown): CallOptions => ({ params: { targetId }, ...(body === undefined ? {} : { body }) });
  const state = async (targetId: string) => (await call<AutoConfirmView>(r.targets.autoConfirm, dialect, one(targetId))).json;

  it("management 12.78 off, on, on again, off, off again: each step answers and shows the state", async () => {
    const { controllerId } = await build.target();
    const began = Date.now();
    const off = await state(controllerId);
    expect(off).toMatchObject({
      active: false,
      _links: { activate: { href: expect.stringMatching(`${controllerId}/autoConfirm/activate$`) } },
    });
    expect(Object.keys(off).toSorted()).toEqual(["_links", "active"]);
    expect((await call(r.targets.activateAutoConfirm, dialect, one(controllerId))).status).toBe(done);
    await refused(r.targets.activateAutoConfirm, dialect, one(controllerId), [409, "repo.autoConfAlreadyActive"]);
    const on = await state(controllerId);
    expect(Object.keys(on).toSorted()).toEqual(["_links", "activatedAt", "active"]);
    expect(on.active).toBe(true);
    expect(on.activatedAt).toBeGreaterThan(began - 60_000);
    expect(on._links.deactivate?.href).toMatch(new RegExp(`${controllerId}/autoConfirm/deactivate$`));
    expect(on._links).not.toHaveProperty("activate");
    for (let twice = 0; twice < 2; twice += 1) {
      expect((await call(r.targets.deactivateAutoConfirm, dialect, one(controllerId))).status).toBe(done);
    }
    expect(await state(controllerId)).toEqual(off);
  });

  it("management 5.9 initiator and remark are stored; an empty text counts as none", async () => {
    const [a, b] = await build.targets({}, {});
    await call(
      r.targets.activateAutoConfirm,
      dialect,
      one(a?.controllerId as string, { initiator: "i".repeat(64), remark: "r".repeat(512) }),
    );
    expect(await state(a?.controllerId as string)).toMatchObject({ initiator: "i".repeat(64), remark: "r".repeat(512) });
    await call(r.targets.activateAutoConfirm, dialect, one(b?.controllerId as string, { initiator: "", remark: null }));
    expect(await state(b?.controllerId as string)).not.toHaveProperty("initiator");
    await call(r.targets.delete, dialect, one(a?.controllerId as string));
    await refused(r.targets.autoConfirm, dialect, one(a?.controllerId as string), [404, "repo.entityNotFound"]);
  });

  it("management 1.6 too long texts are rejected, unknown targets are not found", async () => {
    const { controllerId } = await build.target();
    for (const body of [{ initiator: "i".repeat(65) }, { remark: "r".repeat(513) }]) {
      await refused(r.targets.activateAutoConfirm, dialect, one(controllerId, body), [400, "repo.constraintViolation"]);
    }
    expect((await state(controllerId)).active).toBe(false);
    for (const route of [r.targets.autoConfirm, r.targets.activateAutoConfirm, r.targets.deactivateAutoConfirm]) {
      await refused(route, dialect, one(unique("nobody")), [404, "repo.entityNotFound"]);
    }
  });

  it("management 12.79 targets do not show auto-confirmation while the confirmation flow is off", async () => {
    const { controllerId } = await build.target();
    await call(r.targets.activateAutoConfirm, dialect, one(controllerId));
    const target = await view.target(controllerId);
    expect(target).not.toHaveProperty("autoConfirmActive");
    expect(target._links).not.toHaveProperty("autoConfirm");
  });
});
