import { actionStatus, outcomeCode, tally } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  itemOf,
  reservedSet,
  runGroup,
  seedMembers,
} from "../commands.fixture.ts";
import { seedTargets } from "../device.fixture.ts";
import { policy, proof, watchedFleet } from "./watches.fixture.ts";

let fixture: CommandsFixture;
let fleet: ReturnType<typeof watchedFleet>;
beforeAll(async () => {
  fixture = await commandsFixture();
  fleet = watchedFleet(fixture);
});
afterAll(() => fixture.close());

test("beyond 1.1 where only what is installed is there already, a set that is merely assigned is given again", async () => {
  const rolloutId = 1;
  const [set, other] = [100, 101];
  const seeds = [
    { assignedSetId: set, installedSetId: 99 },
    { assignedSetId: set, installedSetId: set },
    { assignedSetId: null, installedSetId: set },
    { assignedSetId: other, installedSetId: set },
    { assignedSetId: null, installedSetId: null },
  ];
  const ids = seeds.map((_, n) => 10 + n);
  await seedTargets(
    fixture,
    seeds.map((seed, n) => ({ ...seed, id: ids[n] as number })),
  );
  await seedMembers(fixture, { rolloutId, groupId: 1 }, ids);
  await runGroup(fixture, chunkOf(rolloutId, { safety: policy({ skip: "installed" }) }));
  const { rows } = await fixture.db.pool.query("select active, status from actions where rollout_id = $1 order by target_id", [rolloutId]);
  expect(rows.map(({ active }) => active)).toEqual([true, false, false, true, true]);
  expect(rows[1].status).toBe(actionStatus.FINISHED);
  const [, { id }] = (await fixture.db.pool.query("select id from actions where rollout_id = $1 order by target_id", [rolloutId])).rows;
  expect(await fleet.lastText(id)).toBe("Update Server: Distribution Set is already installed. Skipping this action.");
});

test.each([
  ["success", actionStatus.FINISHED],
  ["failure", actionStatus.ERROR],
] as const)(
  "beyond 1.1 without a policy nothing is awaited of an action that ends with %s, from its start to its end",
  async (result, status) => {
    const rolloutId = 2 + status;
    const targetId = rolloutId * 10;
    await seedTargets(fixture, [{ id: targetId, installedSetId: 99 }]);
    await seedMembers(fixture, { rolloutId, groupId: 1 }, [targetId]);
    await runGroup(fixture, chunkOf(rolloutId));
    const { rows } = await fixture.db.pool.query("select id, policy_id from actions where rollout_id = $1", [rolloutId]);
    expect(rows).toEqual([{ id: expect.any(Number), policy_id: null }]);
    const { id } = rows[0];
    const steps = [
      () => fleet.retrieve(`d${targetId}`, id),
      () => fleet.downloads(id),
      () => fleet.report(`d${targetId}`, id, "proceeding", "none"),
      () => fleet.report(`d${targetId}`, id, "closed", result, 503),
      () => fleet.shows(`d${targetId}`, { sw_version: "1.2" }),
      () => fleet.settle(),
    ];
    for (const step of steps) {
      await step();
      const { rows: watches } = await fixture.db.pool.query("select from action_watches where action_id = $1", [id]);
      expect(watches).toEqual([]);
    }
    expect(await fleet.state(id)).toMatchObject({ status, tally: tally.plain, outcome: null });
  },
);

test("an assignment with a policy is proven as a rollout's action is", async () => {
  await seedTargets(fixture, [{ id: 5000 }]);
  const items = [itemOf("d5000", { safetyIndex: 0 })];
  const request = { set: reservedSet(100), items, initiator: "admin", safeties: `[${policy({ proof: proof() })}]` };
  const { actions } = await fixture.actions.assignSet(request, contextOf());
  const action = Number(actions?.[0]?.id);
  await fleet.report("d5000", action);
  await fleet.shows("d5000", { sw_version: "1.3" });
  await fleet.polls(5000, 2);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ installed: 100, outcome: outcomeCode("proven", "attributes") });
});

test("the policy of an action is that of its target's type, where the types have their own", async () => {
  await seedTargets(fixture, [{ id: 6000 }, { id: 6001 }]);
  await fixture.db.pool.query("update targets set target_type_id = 7 where id = 6001");
  await seedMembers(fixture, { rolloutId: 6000, groupId: 1 }, [6000, 6001]);
  const own = policy({ proof: proof({ expected: [{ key: "fw", value: "9", match: "prefix" }] }) });
  const chunk = { ...chunkOf(6000, { safety: policy({ proof: proof() }) }), safetyOfTypes: [{ targetTypes: [7], safety: own }] };
  await runGroup(fixture, chunk);
  const { rows } = await fixture.db.pool.query(
    `select p.body #>> '{proof,expected,0,key}' as key from actions a join action_policies p on p.tenant_id = a.tenant_id and p.id = a.policy_id
      where a.rollout_id = 6000 order by a.target_id`,
  );
  expect(rows.map((row) => row.key)).toEqual(["sw_version", "fw"]);
});
