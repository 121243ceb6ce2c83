import { actionStatus, tally } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, chunkOf, commandsFixture, runGroup, seedMembers } from "../commands.fixture.ts";
import { seedTargets } from "../device.fixture.ts";
import { policy, watchedFleet } from "./watches.fixture.ts";

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
