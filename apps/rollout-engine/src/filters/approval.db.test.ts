import { autoAssignBody } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import type { Principal } from "@harrier/rpc";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type AutoAssigner, createAutoAssigner } from "../auto-assign/auto-assigner.ts";
import { loadFilterWork } from "../auto-assign/candidates.sql.ts";
import { chunksOfController } from "../testing/auto-assign-chunks.ts";
import { createFixture, type Fixture, setIds, typeIds } from "../testing/database.fixture.ts";
import type { AutoAssignStatus } from "./approval.sql.ts";
import { assignByFilter, decideAutoAssignment, endAutoAssign } from "./auto-assign.ts";
import { filterJson } from "./filter.json.ts";
import { changeFilter, createFilter, getFilter } from "./filters.ts";

/*
 * Approval of auto-assignments (`auto.assignment.approval.enabled`): the tests check what each change does to it, and that nothing is assigned
 * before it.
 */

let fixture: Fixture;
let deps: Parameters<typeof assignByFilter>[0];
let engine: AutoAssigner | undefined;

beforeAll(async () => {
  fixture = await createFixture();
  deps = { ...fixture.create, wake: () => engine?.wake() };
});
beforeEach(() => switchTo(true));
afterEach(async () => {
  await engine?.stop();
  engine = undefined;
  await fixture.sql("delete from rollout_engine.target_filters");
});
afterAll(() => fixture?.drop());

const switchTo = (on: boolean) =>
  fixture.sql(
    `insert into management.settings (tenant_id, key, value, created_by, last_modified_by)
     values (1, 'auto.assignment.approval.enabled', $1, 'x', 'x') on conflict (tenant_id, key) do update set value = excluded.value`,
    [JSON.stringify(on)],
  );
const who = (subject: string, permissions: string[]): Principal => ({ ...fixture.call.principal, subject, permissions });
const user = () => who("user", []);
const approver = () => who("approver", ["APPROVE_ROLLOUT"]);
let names = 0;
const filter = (query = "name==nobody") => createFilter(deps, user(), { name: `f${++names}`, query });
const assign = (id: number, principal: Principal) =>
  assignByFilter(deps, id, autoAssignBody.parse({ id: setIds.complete }), { ...fixture.call, principal });
const decide = (id: number, approved: boolean, remark?: string, principal = approver()) =>
  decideAutoAssignment(deps, principal, id, { approved, remark });
const statusOf = async (id: number) => (await getFilter(deps, 1, id)).status;
const query = (id: number, text: string, principal: Principal) => changeFilter(deps, principal, id, { query: text });

const changes = {
  "set by a user": (id: number) => assign(id, user()),
  "set by an approver": (id: number) => assign(id, approver()),
  "query by a user": (id: number) => query(id, "name==others", user()),
  "query by an approver": (id: number) => query(id, "name==others", approver()),
  "name by a user": (id: number) => changeFilter(deps, user(), id, { name: `renamed ${id}` }),
  "the same query by a user": (id: number) => query(id, "name==nobody", user()),
  end: (id: number) => endAutoAssign(deps, id, user()),
} as const;
type Change = keyof typeof changes;

const [running, waits, denied] = ["running", "waiting_for_approval", "approval_denied"] as const;
const before: Record<string, (id: number) => Promise<void>> = {
  running: (id) => assign(id, approver()),
  waiting_for_approval: (id) => assign(id, user()),
  async approval_denied(id) {
    await assign(id, user());
    await decide(id, false);
  },
};

/** Each row has the status before, the change, the status after it with approval on, and the status with approval turned off meanwhile. */
const table: [AutoAssignStatus, Change, AutoAssignStatus, AutoAssignStatus][] = [
  [running, "set by a user", waits, running],
  [running, "set by an approver", running, running],
  [running, "query by a user", waits, running],
  [running, "query by an approver", running, running],
  [running, "name by a user", running, running],
  [running, "the same query by a user", running, running],
  [waits, "set by a user", waits, running],
  [waits, "set by an approver", running, running],
  [waits, "query by a user", waits, waits],
  [waits, "query by an approver", waits, waits],
  [waits, "name by a user", waits, waits],
  [denied, "set by a user", waits, running],
  [denied, "set by an approver", running, running],
  [denied, "query by a user", waits, denied],
  [denied, "query by an approver", denied, denied],
  [denied, "the same query by a user", denied, denied],
  [running, "end", running, running],
  [waits, "end", running, running],
  [denied, "end", running, running],
];

test.each(table)("%s, then %s: %s (switched off: %s)", async (from, change, on, off) => {
  for (const [switched, expected] of [
    [true, on],
    [false, off],
  ] as const) {
    await switchTo(true);
    const id = await filter();
    await before[from]?.(id);
    expect(await statusOf(id)).toBe(from);
    const { epoch } = (
      await fixture.sql<{ epoch: number }>("select auto_assign_epoch::int as epoch from rollout_engine.target_filters where id = $1", [id])
    )[0] ?? { epoch: 0 };
    await switchTo(switched);
    await changes[change](id);
    expect(await statusOf(id)).toBe(expected);
    // a change that takes work away voids the work that was begun before
    if (expected !== from) {
      const [row] = await fixture.sql<{ epoch: number }>(
        "select auto_assign_epoch::int as epoch from rollout_engine.target_filters where id = $1",
        [id],
      );
      expect(row?.epoch).toBeGreaterThan(epoch);
    }
    const work = await runOne(deps.db.pool, loadFilterWork, [1, id]);
    expect(work !== undefined).toBe(expected === "running" && change !== "end");
  }
});

test("only a waiting auto-assignment can be decided, once; the decision is stored with its author, a denial with its remark if any", async () => {
  const id = await filter();
  const illegal = { code: "rolloutIllegalState" };
  await expect(decide(id, true)).rejects.toMatchObject(illegal);
  await assign(id, user());
  await decide(id, true, "go");
  expect(await getFilter(deps, 1, id)).toMatchObject({ status: running, decidedBy: "approver", remark: "go" });
  await expect(decide(id, false)).rejects.toMatchObject(illegal);
  await assign(id, user());
  expect(await getFilter(deps, 1, id)).toMatchObject({ status: waits, decidedBy: null, remark: null });
  await decide(id, false);
  expect(filterJson("", await getFilter(deps, 1, id))).toMatchObject({ autoAssignStatus: denied, approveDecidedBy: "approver" });
  await expect(decide(id, true)).rejects.toMatchObject(illegal);
  await expect(decide(999_999, true)).rejects.toMatchObject({ code: "entityNotFound" });
});

test("a user who reaches fewer targets than the auto-assignment cannot decide about it", async () => {
  const id = await filter();
  await assign(id, user());
  for (const permission of ["APPROVE_ROLLOUT", "READ_TARGET", "UPDATE_TARGET"]) {
    const restricted = { ...approver(), targetTypeScopes: { [permission]: [typeIds.compatible] } };
    await expect(decide(id, true, undefined, restricted)).rejects.toMatchObject({ code: "insufficientPermission" });
  }
  expect(await statusOf(id)).toBe(waits);
});

test("when a decision and a change come at once, one of them sees the other", async () => {
  for (let n = 0; n < 10; n++) {
    const id = await filter();
    await assign(id, user());
    const [decision, change] = await Promise.allSettled([decide(id, true), query(id, `name==other${n}`, user())]);
    expect(["fulfilled", "rejected"]).toContain(decision.status);
    if (decision.status === "fulfilled" && change.status === "fulfilled") {
      // either the change came after the decision, or the decision was about the new query
      expect([waits, running]).toContain(await statusOf(id));
    } else
      expect([decision, change]).toContainEqual(
        expect.objectContaining({ reason: expect.objectContaining({ code: "concurrentModification" }) }),
      );
  }
});

test("nothing is assigned before the approval; a change that needs another approval stops even a pass under way", async () => {
  await fixture.addTargets("ap", 9);
  const chunks = chunksOfController(fixture.database, 3);
  const served = async () =>
    (await fixture.sql("select controller_id from controller.actions where set_id = $1 and controller_id like 'ap-%'", [setIds.complete]))
      .length;
  engine = createAutoAssigner(
    { ...fixture.create, actions: chunks, fault: () => {} },
    { pollMs: 50, leaseSeconds: 2, slots: 3, log: { warn: () => undefined } },
  );
  engine.start();
  const id = await filter("name==ap-*");
  await assign(id, user());
  await eventually(async () => {
    const [lease] = await fixture.sql<{ passes: number }>(
      "select passes::int from rollout_engine.auto_assign_leases where filter_id = $1",
      [id],
    );
    expect(lease?.passes).toBeGreaterThan(0);
  });
  expect(await served()).toBe(0);
  let calls = 0;
  chunks.beforeCall = async () => {
    calls += 1;
    if (calls === 2) await query(id, "name==ap-*,name==none", user());
  };
  await decide(id, true);
  await eventually(async () => expect(await statusOf(id)).toBe(waits));
  chunks.beforeCall = () => {};
  expect(await served()).toBe(3);
  await decide(id, true);
  await eventually(async () => expect(await served()).toBe(9));
});
