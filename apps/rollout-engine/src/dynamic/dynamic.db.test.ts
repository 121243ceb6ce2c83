import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listMembers } from "../groups/read-groups.ts";
import { pauseRollout, resumeRollout, startRollout } from "../rollouts/rollout-commands.ts";
import { typeIds } from "../testing/database.fixture.ts";
import { all, createDynamicFixture, type DynamicFixture, dynamic, template } from "../testing/dynamic.fixture.ts";

let dynamics: DynamicFixture;
let fixture: DynamicFixture["fixture"];

beforeAll(async () => {
  dynamics = await createDynamicFixture();
  fixture = dynamics.fixture;
});
afterEach(() => dynamics.stop());
afterAll(() => fixture?.drop());

describe("creation of a dynamic rollout", () => {
  test("with a template the dynamic group exists from the start, ready and empty", async () => {
    await fixture.addTargets("a", 4);
    const id = await fixture.createRollout(dynamic("a", { amountGroups: 2, ...template(5) }));
    const third = { name: "group-3-d", status: "ready", dynamic: true, count: 5, total: 0 };
    expect((await dynamics.shape(id))[2]).toEqual(third);
    fixture.engine();
    await fixture.isStatus(id, "ready");
    expect((await dynamics.shape(id)).map(({ name, status, total }) => [name, status, total])).toEqual([
      ["group-1", "ready", 2],
      ["group-2", "ready", 2],
      ["group-3-d", "ready", 0],
    ]);
    const told = await fixture.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  });

  test("without a template the dynamic group has the size and thresholds of the last static group", async () => {
    await fixture.addTargets("b", 7);
    const id = await fixture.createRollout(dynamic("b", { amountGroups: 2, errorCondition: { condition: "THRESHOLD", expression: "7" } }));
    expect(await dynamics.shape(id)).toHaveLength(2);
    fixture.engine();
    await fixture.isStatus(id, "ready");
    expect((await dynamics.shape(id))[2]).toEqual({ name: "group-3", status: "ready", dynamic: true, count: 3, total: 0 });
    const [made] = await fixture.sql(
      "select error_expression, success_expression, target_filter from rollout_engine.rollout_groups where rollout_id = $1 and dynamic",
      [id],
    );
    expect(made).toEqual({ error_expression: "7", success_expression: "50", target_filter: "" });
    const told = await fixture.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
    expect(told.map((event) => event.what)).toContain("group ready");
  });

  test("a rollout with only dynamic groups needs no targets, and none joins before it runs", async () => {
    await fixture.addTargets("c", 3);
    fixture.engine();
    dynamics.filler();
    const id = await fixture.createRollout(dynamic("c", { amountGroups: 0, ...template(2, "") }));
    await fixture.isStatus(id, "ready");
    expect(await dynamics.shape(id)).toEqual([{ name: "group-1", status: "ready", dynamic: true, count: 2, total: 0 }]);
    await startRollout(fixture.drive, fixture.call, id);
    await dynamics.become(id, 2, 1);
    expect(await dynamics.served(id)).toEqual(all("c", 3));
    const none = await fixture.started(dynamic("nobody-at-all", { amountGroups: 0, ...template(2) }));
    await fixture.areStatuses(none.id, "running");
  });
});

test("later targets join group after group; targets that may not have the set do not join", async () => {
  await fixture.addTargets("e", 2);
  fixture.engine();
  dynamics.filler();
  const { id, g1, g2 } = await fixture.started(dynamic("e", { amountGroups: 1, ...template(3) }));
  await fixture.areStatuses(id, "running", "scheduled");
  await fixture.addTargets("e-late", 2);
  await fixture.addTargets("e-alien", 1, { typeId: typeIds.incompatible });
  await dynamics.notify();
  await dynamics.become(id, 2, 2);
  // their actions are only scheduled until the group starts
  expect(await fixture.actions(id)).toEqual([
    { status: 3, n: 2 },
    { status: 8, n: 2 },
  ]);
  await fixture.controller.report(id, g1, 2, "finished");
  await fixture.areStatuses(id, "finished", "running");
  await dynamics.become(id, 2, 2);
  // in a running group its action is started at once, although this target is older than the members
  await fixture.sql("update controller.targets set name = 'e-first' where name = 't-1'");
  await dynamics.notify();
  await dynamics.become(id, 2, 3, 0);
  expect(await fixture.actions(id)).toEqual([
    { status: 0, n: 2 },
    { status: 3, n: 3 },
  ]);
  const group = { rolloutId: id, groupId: g2 };
  const targets = {
    async readSecurityTokens() {
      return { tokens: {} };
    },
  };
  const page = await listMembers({ db: fixture.create.db, now: Date.now, targets }, fixture.call, group, { offset: 0, limit: 50 });
  expect(page.rows.map((row) => row.name).sort()).toEqual(["e-first", "e-late-1", "e-late-2"]);
  await fixture.sql("update controller.targets set name = 't-1' where name = 'e-first'");
  await fixture.controller.report(id, g2, 3, "finished");
  await fixture.areStatuses(id, "finished", "finished", "running");
  await dynamics.notify();
  await dynamics.become(id, 2, 3, 0);
  expect(await fixture.status(id)).toBe("running");
  const told = await fixture.events(id);
  expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
});

test("targets outside the restriction of the rollout's creator do not join", async () => {
  await fixture.addTargets("f", 2, { typeId: typeIds.compatible });
  await fixture.addTargets("f-plain", 2);
  fixture.engine();
  dynamics.filler();
  const principal = { ...fixture.call.principal, targetTypeScopes: { READ_TARGET: [typeIds.compatible] } };
  const id = await fixture.createRollout(dynamic("f", { amountGroups: 0, ...template(9) }), principal);
  await fixture.isStatus(id, "ready");
  await startRollout(fixture.drive, fixture.call, id);
  await dynamics.become(id, 2);
  expect(await dynamics.served(id)).toEqual(all("f", 2));
});

describe("newer rollouts win over older ones", () => {
  test("a target with an action of a newer rollout, finished or not, joins no older rollout", async () => {
    await fixture.addTargets("g", 3);
    fixture.engine();
    const older = await fixture.started(dynamic("g", { amountGroups: 0, ...template(9) }));
    const newer = await fixture.started({ targetFilterQuery: "name==g-2" });
    dynamics.filler();
    await dynamics.become(older.id, 2);
    expect(await dynamics.served(older.id)).toEqual(["g-1", "g-3"]);
    expect(await dynamics.served(newer.id)).toEqual(["g-2"]);
  });

  test("this holds even if the newer action is created between the search and the join", async () => {
    await fixture.addTargets("h", 2);
    fixture.engine();
    const older = await fixture.started(dynamic("h", { amountGroups: 0, ...template(9) }));
    let held: Promise<void> | undefined;
    let go = (): void => {};
    const reached = new Promise<void>((resolve) => {
      fixture.controller.beforeCall = (command) => {
        if (command !== `schedule ${older.g1}`) return undefined;
        resolve();
        held ??= new Promise<void>((done) => {
          go = done;
        });
        return held;
      };
    });
    dynamics.filler();
    await reached;
    const newer = await fixture.started({ targetFilterQuery: "name==h-1" });
    go();
    await dynamics.become(older.id, 1);
    expect(await dynamics.served(older.id)).toEqual(["h-2"]);
    expect(await fixture.actions(newer.id)).toEqual([{ status: 3, n: 1 }]);
  });
});

test("no target joins a paused rollout; the targets of that time join after the resume", async () => {
  await fixture.addTargets("i", 1);
  fixture.engine();
  const { id } = await fixture.started(dynamic("i", { amountGroups: 1, ...template(9) }));
  await pauseRollout(fixture.drive, fixture.call, id);
  dynamics.filler();
  await fixture.addTargets("i-late", 2);
  await dynamics.notify();
  const other = await fixture.started(dynamic("i-late", { targetFilterQuery: "name==few-*", amountGroups: 0, ...template(9) }));
  await dynamics.become(other.id, 4);
  expect(await dynamics.sizes(id)).toEqual([1, 0]);
  await resumeRollout(fixture.drive, fixture.call, id);
  await dynamics.become(id, 1, 2);
});

test("deleted targets make room in the group, and the totals stay exact", async () => {
  await fixture.addTargets("n", 5);
  fixture.engine();
  dynamics.filler();
  const { id, g1 } = await fixture.started(dynamic("n", { amountGroups: 0, ...template(9) }));
  await dynamics.become(id, 5);
  await fixture.controller.deleteTargets(id, g1, 3);
  await dynamics.become(id, 2);
  await fixture.addTargets("n-late", 7);
  await dynamics.notify();
  await dynamics.become(id, 9, 0);
});

test("when the tenant's quota of groups is used up, the rollout stops with its last group", async () => {
  await fixture.addTargets("q", 3);
  await fixture.sql(
    `insert into management.quotas (tenant_id, key, value, created_by, last_modified_by) values (1, 'ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT', 2, 'x', 'x')`,
  );
  fixture.engine();
  dynamics.filler();
  const { id } = await fixture.started(dynamic("q", { amountGroups: 0, ...template(1) }));
  await dynamics.become(id, 1, 1);
  const [first, second] = await fixture.groups(id);
  await fixture.controller.report(id, first?.id ?? 0, 1, "finished");
  await fixture.areStatuses(id, "finished", "running");
  await fixture.controller.report(id, second?.id ?? 0, 1, "finished");
  await fixture.isStatus(id, "stopped");
  expect((await fixture.events(id)).at(-1)).toMatchObject({ what: "rollout stopped", data: { reason: "quota" } });
  expect(await dynamics.served(id)).toEqual(["q-1", "q-2"]);
  await fixture.sql("delete from management.quotas where tenant_id = 1");
});
