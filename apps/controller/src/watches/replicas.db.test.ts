import { actionStatus, outcomeCode, tally } from "@harrier/contracts";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import { createLastPolls } from "../poll/last-polls.ts";
import { expectConsistent, policy, proof, watchedFleet } from "./watches.fixture.ts";

// Two replicas do the same at the same time, and a round settles what several watches come to.

let fixture: CommandsFixture;
let fleet: ReturnType<typeof watchedFleet>;
const rollouts: number[] = [];
beforeAll(async () => {
  fixture = await commandsFixture();
  fleet = watchedFleet(fixture);
});
afterAll(() => fixture.close());
afterEach(() => expectConsistent(fixture, rollouts));

/** A rollout of one new target with the policy, and its action. */
async function one(safety: string) {
  const rolloutId = rollouts.length + 1;
  const targetId = rolloutId * 10;
  rollouts.push(rolloutId);
  const [action = 0] = await fleet.start(rolloutId, [targetId], safety);
  return { targetId, device: `d${targetId}`, action };
}

const { ERROR, RUNNING } = actionStatus;
const minutes = 60;

test("beyond 1.19 two replicas at once settle each once", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  await fleet.later(action, 61 * minutes);
  await Promise.all([fleet.settle(), fleet.settle(), fleet.settle()]);
  await fleet.settle();
  expect(await fleet.eventTypes(action)).toEqual(["created", "status_changed", "status_changed", "proof_changed"]);
});

test("a round asks one question where nothing is due, and says that it may rest", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  const asked = vi.spyOn(fixture.db.pool, "query");
  try {
    expect(await fleet.settle()).toBe(false);
    expect(asked).toHaveBeenCalledTimes(1);
  } finally {
    asked.mockRestore();
  }
  await fleet.later(action, 61 * minutes);
  expect(await fleet.settle()).toBe(true);
  expect(await fleet.settle()).toBe(false);
});

test("beyond 1.19 two watches of one target that are due together are settled in one round, the older first", async () => {
  const { device, action } = await one(policy({ proof: proof() }));
  await fleet.report(device, action);
  const { actions } = await fixture.actions.assignSet(
    {
      set: reservedSet(101),
      items: [itemOf(device, { safetyIndex: 0 })],
      initiator: "admin",
      safeties: `[${policy({ limits: { notFetchedSeconds: 60, count: "error" } })}]`,
    },
    contextOf(),
  );
  const newer = Number(actions?.[0]?.id);
  await fleet.later(action, 61 * minutes);
  await fleet.later(newer, 61 * minutes);
  await fleet.settle();
  expect(await fleet.state(action)).toMatchObject({ status: ERROR, stage: null, assigned: 101, outcome: outcomeCode("unproven", "none") });
  expect(await fleet.state(newer)).toMatchObject({ status: RUNNING, tally: tally.silent, silent: true });
});

test("beyond 1.20 a hundred polls of one second at two replicas count once, and one of the next second counts again", async () => {
  const { device, action, targetId } = await one(policy({ proof: proof({ stable: { polls: 9, minutes: 0 } }) }));
  await fleet.report(device, action);
  await fleet.shows(device, { sw_version: "1.3" });
  const replicas = [createLastPolls({ pool: fixture.db.pool }), createLastPolls({ pool: fixture.db.pool })];
  const first = Date.now() + 1;
  const poll = async (at: number) => {
    for (const replica of replicas) replica.record(1, targetId, at);
    await Promise.all(replicas.map((replica) => replica.flush()));
  };
  const counted = async () =>
    (await fixture.db.pool.query("select polls from action_watches where action_id = $1", [action])).rows[0].polls;
  for (let n = 0; n < 100; n += 1) await poll(first + n * 9);
  expect(await counted()).toBe(1);
  await poll(first + 1_000);
  expect(await counted()).toBe(2);
  await poll(first + 1_999);
  expect(await counted()).toBe(2);
});
