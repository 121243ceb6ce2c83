import type { ResolvedPolicy } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type CommandsFixture, commandsFixture } from "../commands.fixture.ts";
import { foldMonthlyCounts } from "../insights/insights.sql.ts";
import { policy, proof, watchedFleet } from "./watches.fixture.ts";

// What insights and the failures of rollouts say of actions that end otherwise than their devices have said.

let fixture: CommandsFixture;
let fleet: ReturnType<typeof watchedFleet>;
beforeAll(async () => {
  fixture = await commandsFixture();
  fleet = watchedFleet(fixture);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  for (const table of ["actions", "action_watches", "outbox", "rollout_failures", "monthly_counts"]) await sql(`truncate ${table}`);
  await sql("update monthly_counts_folded set began_at = now() - interval '1 year'");
});

const sql = async (text: string): Promise<Record<string, unknown>[]> => (await fixture.db.pool.query(text)).rows;

/** Folds until nothing is left: other databases of this server may have older transactions open for a moment. */
async function counted(): Promise<Record<string, unknown> | undefined> {
  const step = async () => {
    await runOne(fixture.db.pool, foldMonthlyCounts, [2_000]);
    return (await sql("select from outbox o, monthly_counts_folded f where (o.txid, o.id) > (f.txid, f.id)")).length === 0;
  };
  await vi.waitUntil(step, { timeout: 20_000, interval: 1 });
  const counts = await fixture.db.pool.query(
    `select sum(actions_created)::int as created, sum(actions_finished)::int as finished, sum(actions_error)::int as error
       from monthly_counts_v1 where tenant_id = 1`,
  );
  return counts.rows[0];
}
const failures = () => sql("select code, message, n::int, sample from rollout_failures where tenant_id = 1 order by message, code");

let next = 500;
async function one(change: Partial<ResolvedPolicy>) {
  next += 1;
  await fleet.rolloutIs(next, "running");
  const [action = 0] = await fleet.start(next, [next * 10], policy(change));
  return { action, device: `d${next * 10}` };
}
const limits = {
  notFetchedSeconds: 600,
  downloadingSeconds: 600,
  installingSeconds: 600,
  giveUpSeconds: 1_800,
  count: "error",
} as NonNullable<ResolvedPolicy["limits"]>;

describe("beyond 1.4 insights and failures of what is watched", () => {
  test("a success that is refuted is taken back, and is a failure with the words of the server", async () => {
    const { action, device } = await one({ proof: proof({ graceSeconds: 0 }) });
    await fleet.report(device, action);
    expect(await counted()).toEqual({ created: 1, finished: 1, error: 0 });
    expect(await failures()).toEqual([]);
    await fleet.shows(device, { sw_version: "1.2" });
    expect(await counted()).toEqual({ created: 1, finished: 0, error: 1 });
    const message = "Update Server: The device shows sw_version 1.2 instead of 1.3: it fell back.";
    expect(await failures()).toEqual([{ code: null, message, n: 1, sample: [device] }]);
  });

  test("a success that is not proven in time is taken back, too, from the month in which it came", async () => {
    const { action, device } = await one({ proof: proof() });
    await fleet.report(device, action);
    await sql("update outbox set at = at - interval '40 days'");
    await sql("update action_watches set claimed_at = claimed_at - interval '40 days'");
    expect(await counted()).toEqual({ created: 1, finished: 1, error: 0 });
    await fleet.later(action, 3_601);
    await fleet.settle();
    await counted();
    const months = await sql("select actions_finished::int as finished, actions_error::int as error from monthly_counts_v1 order by month");
    expect(months).toEqual([
      { finished: 0, error: 0 },
      { finished: 0, error: 1 },
    ]);
    expect(await failures()).toMatchObject([{ code: null, message: "Update Server: The success was not proven in time.", n: 1 }]);
  });

  test("a device that is given up has failed; one that fails after its silence has failed with its own code", async () => {
    const gone = await one({ limits });
    await fleet.later(gone.action, 601);
    await fleet.settle();
    expect(await counted()).toEqual({ created: 1, finished: 0, error: 0 });
    await fleet.later(gone.action, 1_200);
    await fleet.settle();
    expect(await counted()).toEqual({ created: 1, finished: 0, error: 1 });

    const back = await one({ limits });
    await fleet.later(back.action, 601);
    await fleet.settle();
    await fleet.report(back.device, back.action, "closed", "failure", -7);
    expect((await fleet.eventTypes(back.action)).at(-1)).toBe("silence_changed");
    expect(await counted()).toEqual({ created: 2, finished: 0, error: 2 });
    expect(await failures()).toMatchObject([
      { code: null, message: "Update Server: The device has not finished in time: given up.", sample: [gone.device] },
      { code: -7, message: null, sample: [back.device] },
    ]);
  });

  test("an attempt that failed and is tried again has failed, and the next one is an action of its own", async () => {
    const { action, device } = await one({
      retry: {
        max: 1,
        delaySeconds: 10,
        backoff: 1,
        maxDelaySeconds: 3600,
        codes: [{ from: 500, to: 599 }],
        withoutCode: false,
        onSilent: false,
        waitingCounts: "running",
      },
    });
    await fleet.report(device, action, "closed", "failure", 503);
    expect((await fleet.eventTypes(action)).at(-1)).toBe("retry_changed");
    expect(await counted()).toEqual({ created: 1, finished: 0, error: 1 });
    await fleet.later(action, 20);
    await fleet.settle();
    const [again] = await sql("select id from actions where retry_of is not null");
    await fleet.report(device, Number(again?.["id"]));
    expect(await counted()).toEqual({ created: 2, finished: 1, error: 1 });
    expect(await failures()).toMatchObject([{ code: 503, n: 1 }]);
  });
});
