import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { rolloutBody } from "../testing/database.fixture.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { createRollout } from "./create-rollout.ts";
import { getRollout } from "./read-rollouts.ts";
import { decideRollout, deleteRollout, pauseRollout, startRollout, stopRollout, triggerNextGroup } from "./rollout-commands.ts";

let fixture: EngineFixture;

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

describe("start and delete (contract rollouts.md §4.1)", () => {
  test("only a ready rollout can be started, and only once", async () => {
    const id = await fixture.createRollout({});
    await expect(startRollout(fixture.drive, fixture.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
    fixture.engine();
    await fixture.isStatus(id, "ready");
    const twice = await Promise.allSettled([1, 2].map(() => startRollout(fixture.drive, fixture.call, id)));
    expect(twice.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(startRollout(fixture.drive, fixture.call, 999_999)).rejects.toMatchObject({ code: "entityNotFound" });
  });

  test("deleting a rollout that has not begun leaves only its events", async () => {
    fixture.engine();
    const id = await fixture.createRollout({ amountGroups: 2 });
    await fixture.isStatus(id, "ready");
    await deleteRollout(fixture.drive, fixture.call, id);
    await eventually(() => expect(getRollout(fixture.create, 1, id)).rejects.toMatchObject({ code: "entityNotFound" }));
    for (const table of ["rollout_groups", "group_members", "leases"])
      expect(await fixture.sql(`select 1 from rollout_engine.${table} where rollout_id = $1`, [id])).toEqual([]);
    expect((await fixture.events(id)).map((event) => event.what).slice(-2)).toEqual(["rollout deleting", "rollout deleted"]);
  });

  test("deleting a running rollout closes its open actions, and it stays readable", async () => {
    fixture.engine();
    const { id, g1 } = await fixture.started({ amountGroups: 3 });
    await fixture.areStatuses(id, "running", "scheduled", "scheduled");
    await fixture.controller.report(id, g1, 1, "finished");
    await deleteRollout(fixture.drive, fixture.call, id);
    await deleteRollout(fixture.drive, fixture.call, id);
    await fixture.isStatus(id, "deleted");
    await deleteRollout(fixture.drive, fixture.call, id);
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({
      deleted: true,
      counts: { scheduled: 0, running: 0, finished: 1, cancelled: 3 },
    });
    expect(await fixture.groupStatuses(id)).toEqual(["finished", "finished", "finished"]);
    expect((await fixture.events(id)).map((event) => event.what).filter((what) => what.startsWith("rollout"))).toEqual(
      ["creating", "ready", "starting", "running", "deleting", "deleted"].map((status) => `rollout ${status}`),
    );
  });

  test("deleting a stopped rollout walks over its actions again and closes those that devices had not answered", async () => {
    fixture.engine();
    const { id } = await fixture.started({ amountGroups: 2 });
    await stopRollout(fixture.drive, fixture.call, id);
    await fixture.isStatus(id, "stopped");
    expect(await fixture.actions(id)).toEqual([{ status: 5, n: 6 }]);
    await expect(stopRollout(fixture.drive, fixture.call, id)).rejects.toMatchObject({ code: "rolloutIllegalState" });
    await deleteRollout(fixture.drive, fixture.call, id);
    await fixture.isStatus(id, "deleted");
    expect(await fixture.actions(id)).toEqual([{ status: 4, n: 6 }]);
  });

  test("deleting a rollout of which no action has begun removes it completely", async () => {
    fixture.engine();
    const id = await fixture.createRollout({ amountGroups: 2 });
    await fixture.isStatus(id, "ready");
    fixture.controller.beforeCall = (command) => {
      if (command.startsWith("start")) throw new Error("controller is away");
    };
    await startRollout(fixture.drive, fixture.call, id);
    await eventually(async () => expect(await fixture.actions(id)).not.toEqual([]));
    await deleteRollout(fixture.drive, fixture.call, id);
    await eventually(() => expect(getRollout(fixture.create, 1, id)).rejects.toMatchObject({ code: "entityNotFound" }));
    expect(await fixture.actions(id)).toEqual([]);
  });
});

describe("a trigger by hand (contract rollouts.md §4.7)", () => {
  test("it begins the next group, even one that waits for its actions, until none is left", async () => {
    fixture.engine();
    const { id } = await fixture.started({ amountGroups: 3 });
    await fixture.areStatuses(id, "running", "scheduled", "scheduled");
    await triggerNextGroup(fixture.drive, fixture.call, id);
    expect((await fixture.groupStatuses(id)).slice(0, 2)).toEqual(["running", "running"]);
    await triggerNextGroup(fixture.drive, fixture.call, id);
    await expect(triggerNextGroup(fixture.drive, fixture.call, id)).rejects.toThrow("no groups left");
    await fixture.areStatuses(id, "running", "running", "running");
    await eventually(async () => expect(await fixture.actions(id)).toEqual([{ status: 3, n: 12 }]));
    await expect(triggerNextGroup(fixture.drive, fixture.call, 999_999)).rejects.toMatchObject({ code: "entityNotFound" });
  });

  test("many triggers at once, beside two engines whose thresholds are met, begin every group exactly once", async () => {
    for (let n = 0; n < 2; n++) fixture.engine();
    const { id, g1 } = await fixture.started({ amountGroups: 6, errorCondition: { expression: "100" } });
    await fixture.areStatuses(id, "running", ...Array.from({ length: 5 }, () => "scheduled"));
    await Promise.all([
      fixture.controller.report(id, g1, 2, "finished"),
      ...Array.from({ length: 4 }, () => triggerNextGroup(fixture.drive, fixture.call, id)),
    ]);
    const begun = (await fixture.groupStatuses(id)).map((status) => status !== "scheduled");
    expect(begun.lastIndexOf(true)).toBe(begun.indexOf(false) < 0 ? 5 : begun.indexOf(false) - 1);
    const told = await fixture.events(id);
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
    const groups = told.filter(({ what }) => what === "group running").map(({ data }) => data["groupId"]);
    expect(new Set(groups).size).toBe(groups.length);
  });
});

test("of commands that exclude each other exactly one succeeds, beside two engines", async () => {
  for (let n = 0; n < 2; n++) fixture.engine();
  for (let round = 0; round < 3; round++) {
    const { id } = await fixture.started({ amountGroups: 2 });
    const commands = [pauseRollout, pauseRollout, stopRollout, stopRollout];
    const answers = await Promise.allSettled(commands.map((command) => command(fixture.drive, fixture.call, id)));
    const won = (from: number) => answers.slice(from, from + 2).filter(({ status }) => status === "fulfilled").length;
    // a stop is possible before and after a pause, a pause only before a stop
    expect([won(0) <= 1, won(2)]).toEqual([true, 1]);
    await fixture.isStatus(id, "stopped");
    const told = await fixture.events(id);
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
    expect(told.filter(({ what }) => what === "rollout stopping")).toHaveLength(1);
  }
});

describe("approval (contract rollouts.md §4.11)", () => {
  const approval = (on: boolean) =>
    fixture.sql(
      `insert into management.settings (tenant_id, key, value, created_by, last_modified_by)
         values (1, 'rollout.approval.enabled', $1::jsonb, 'x', 'x')
       on conflict (tenant_id, key) do update set value = excluded.value`,
      [JSON.stringify(on)],
    );

  test("the setting counts when the members are frozen, unless the creator may approve; of several decisions one succeeds", async () => {
    await approval(true);
    const [id, switched] = [await fixture.createRollout({}), await fixture.createRollout({ targetFilterQuery: "name==few-*" })];
    const { principal } = fixture.call;
    const chief = { ...fixture.call, principal: { ...principal, permissions: [...principal.permissions, "APPROVE_ROLLOUT"] } };
    const own = await createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==t-*" }), chief);
    fixture.engine();
    await fixture.isStatus(id, "waiting_for_approval");
    await fixture.isStatus(own, "ready");
    await approval(false);
    const later = await fixture.createRollout({});
    await fixture.isStatus(later, "ready");
    expect(await fixture.status(switched)).toBe("waiting_for_approval");
    const decide = (approved: boolean, remark: string | undefined) => decideRollout(fixture.drive, fixture.call, id, { approved, remark });
    const answers = await Promise.allSettled([decide(true, "yes"), decide(false, "no"), decide(true, undefined)]);
    const won = answers.findIndex(({ status }) => status === "fulfilled");
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await getRollout(fixture.create, 1, id)).toMatchObject({
      status: won === 1 ? "approval_denied" : "ready",
      approveDecidedBy: principal.subject,
      approvalRemark: ["yes", "no", null][won],
    });
    const told = (await fixture.events(id)).filter(({ what }) => /^rollout (ready|approval_denied|waiting)/.test(what));
    expect(told.map(({ data }) => data["previousStatus"])).toEqual(["creating", "waiting_for_approval"]);
  });
});
