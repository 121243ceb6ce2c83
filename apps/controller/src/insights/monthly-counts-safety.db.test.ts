import { forceType, type ResolvedPolicy } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { setSetting } from "../commands.fixture.ts";
import { anyPolicy, anyStep, type Step } from "../watches/steps.fixture.ts";
import { policy, proof, watchedFleet } from "../watches/watches.fixture.ts";
import { foldAll, months, monthsByHand, sql, system, useInsights } from "./insights.fixture.ts";
import { foldMonthlyCounts } from "./insights.sql.ts";

useInsights();

const setId = 100;
let last = 0;
let fleet: ReturnType<typeof watchedFleet>;
beforeEach(async () => {
  await setSetting(system.fixture, "user.confirmation.flow.enabled", false);
  fleet = watchedFleet(system.fixture);
});

/** Starts a rollout of one target with the policy; answers the target and its action. */
async function start(body: string): Promise<{ n: number; actionId: number }> {
  last += 1;
  await system.fixture.database.db("rollout-engine").pool.query(
    `insert into rollouts (tenant_id, id, name, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type, status,
                           created_by, last_modified_by)
     values (1, $1::bigint, 'r' || $1::bigint, 'x', ${setId}, 's', '1', 1, false, ${forceType.forced}, 'running', 'a', 'a')`,
    [last],
  );
  const [actionId = 0] = await fleet.start(last, [last], body, { setId });
  return { n: last, actionId };
}
/** The attempt that counts: the newest one. */
async function newest(n: number): Promise<number> {
  const [row] = await sql<{ id: number }>("select max(id)::bigint as id from actions where target_id = $1", [n]);
  return row?.id ?? 0;
}
const lastEvent = async (): Promise<number> =>
  (await sql<{ id: number }>("select coalesce(max(id), 0)::bigint as id from outbox"))[0]?.id ?? 0;

/** Moves what was told since an event to a day; claims that were taken back since then came on the day on which they were told. */
async function happenedOn(day: string, since: number): Promise<void> {
  await sql("update outbox set at = $1 where id > $2", [day, since]);
  await sql(
    `update outbox o
        set items = (select json_agg(case when jsonb_typeof(i.item -> 13) = 'number' then jsonb_set(i.item, '{13}', to_jsonb(c.ms)) else i.item end)
                       from jsonb_array_elements(o.items::jsonb) as i (item)
                       left join lateral (
                         select (extract(epoch from max(e.at)) * 1000)::bigint as ms
                           from outbox e cross join lateral jsonb_array_elements(e.items::jsonb) as x (item)
                          where e.topic = 'action-events' and x.item -> 0 = i.item -> 0 and x.item ->> 4 = '0' and x.item ->> 3 <> '0') c on true)
      where o.id > $1 and o.type = 'io.update.action.proof_changed.v1'`,
    [since],
  );
}

const retry: ResolvedPolicy["retry"] = {
  max: 2,
  delaySeconds: 60,
  backoff: 1,
  maxDelaySeconds: 3_600,
  notCodes: [],
  withoutCode: true,
  onSilent: true,
  waitingCounts: "running",
};
const course = fc.array(fc.tuple(fc.array(anyStep, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 4 }), fc.nat({ max: 2 })), {
  minLength: 1,
  maxLength: 5,
});

/** Courses with each of the ends that must be seen, which a few random ones may lack. */
const claimed: Step = { kind: "report", execution: "closed", result: "success" };
const once = (steps: Step[]): [Step[], number, number][] => [[steps, 1, 1]];
const withProof = JSON.parse(policy({ proof: proof() })) as ResolvedPolicy;
const withLimits = JSON.parse(policy({ limits: { notFetchedSeconds: 600, giveUpSeconds: 1_800, count: "error" } })) as ResolvedPolicy;
const [later, settled] = [{ kind: "time", seconds: 4_020 }, { kind: "settle" }] as const satisfies Step[];
const examples: [ResolvedPolicy, boolean, [Step[], number, number][]][] = [
  [withProof, false, once([claimed, { kind: "person", proven: true }])],
  [withProof, false, once([claimed, { kind: "person", proven: false }])],
  [withLimits, false, once([later, settled, later, settled])],
  [
    withProof,
    true,
    once([{ kind: "report", execution: "closed", result: "failure" }, later, settled, claimed, { kind: "person", proven: true }]),
  ],
];

describe("management 10.6 monthly counts of actions with a safety policy", () => {
  test("whatever is claimed, proven, refuted, given up and tried again, each action counts once, as it ended last", async () => {
    const played: string[] = [];
    await fc.assert(
      fc.asyncProperty(anyPolicy, fc.boolean(), course, async (body, again, rounds) => {
        const { n } = await start(JSON.stringify(again ? { ...body, retry } : body));
        for (const [steps, month, folds] of rounds) {
          const since = await lastEvent();
          for (const step of steps as Step[]) await fleet.perform(step, { n, actionId: await newest(n), setId });
          await happenedOn(`2025-0${month}-15Z`, since);
          for (let fold = 0; fold < folds; fold++) await runOne(system.fixture.db.pool, foldMonthlyCounts, [1]);
        }
        await foldAll();
        expect(await months()).toEqual(await monthsByHand());
        const [sum] = await sql(`select sum(actions_created)::int as created, sum(actions_finished)::int as finished,
            sum(actions_error)::int as error, sum(actions_canceled)::int as canceled from monthly_counts`);
        const [actions] =
          await sql(`select count(*)::int as created, count(*) filter (where action_bucket(status, force_type) = 2)::int as finished,
            count(*) filter (where action_bucket(status, force_type) = 3)::int as error,
            count(*) filter (where action_bucket(status, force_type) = 4)::int as canceled from actions`);
        expect(sum).toEqual(actions);
        expect(await sql("select from monthly_counts where least(actions_finished, actions_error, actions_canceled) < 0")).toEqual([]);
        played.push(...(await sql<{ ends: string }>("select outcome / 10 || ' ' || attempt as ends from actions")).map(({ ends }) => ends));
      }),
      { numRuns: 80, interruptAfterTimeLimit: 15_000, examples },
    );
    // proven, refuted and given up, and second attempts
    const seen = [/^1 /, /^3 /, /^5 /, / 2$/].filter((kind) => played.some((ends) => kind.test(ends)));
    expect(seen).toHaveLength(4);
  }, 60_000);

  test("a success of one month that is refuted in another is taken back where it was counted", async () => {
    const { n, actionId } = await start(policy({ proof: proof({ withinSeconds: 2_592_000 }) }));
    const since = await lastEvent();
    await fleet.report(`d${n}`, actionId);
    await sql("update outbox set at = '2025-03-31T23:59:59Z' where id > $1", [since]);
    await sql("update action_watches set claimed_at = '2025-03-31T23:59:59Z' where action_id = $1", [actionId]);
    await foldAll();
    const march = { month: "2025-03", created: 0, finished: 1, error: 0, canceled: 0, targets: 0, gone: 0 };
    expect(await months()).toContainEqual(march);
    await fleet.prove(`d${n}`, actionId, false);
    await foldAll();
    const now = new Date().toISOString().slice(0, 7);
    expect(await months()).toEqual([expect.objectContaining({ month: now, created: 1, finished: 0, error: 1 })]);
  });

  test("the same where the success ended a silence, whose event tells of both", async () => {
    const { n, actionId } = await start(
      policy({ proof: proof({ withinSeconds: 2_592_000 }), limits: { notFetchedSeconds: 600, giveUpSeconds: 86_400, count: "error" } }),
    );
    await fleet.later(actionId, 700);
    await fleet.settle();
    const since = await lastEvent();
    await fleet.report(`d${n}`, actionId);
    expect((await fleet.eventTypes(actionId)).at(-1)).toBe("silence_changed");
    await happenedOn("2025-03-15Z", since);
    await sql("update action_watches set claimed_at = '2025-03-15Z' where action_id = $1", [actionId]);
    await fleet.prove(`d${n}`, actionId, false);
    await foldAll();
    const now = new Date().toISOString().slice(0, 7);
    expect(await months()).toEqual([expect.objectContaining({ month: now, created: 1, finished: 0, error: 1 })]);
  });

  test("a success of the time before the counting is not taken back, because it was not counted", async () => {
    const { n, actionId } = await start(policy({ proof: proof() }));
    const since = await lastEvent();
    await fleet.report(`d${n}`, actionId);
    await sql("update outbox set at = '2024-12-31Z' where id > $1", [since]);
    await sql("update action_watches set claimed_at = '2024-12-31Z' where action_id = $1", [actionId]);
    await fleet.prove(`d${n}`, actionId, false);
    await foldAll();
    expect(await months()).toEqual([expect.objectContaining({ finished: 0, error: 1 })]);
  });
});

describe("console 2 M06 failures of rollouts by their safety policy", () => {
  test("a refuted success and a given-up action are among them, with the words of the history, and a failure counts once", async () => {
    await sql("truncate rollout_failures");
    const { n: refuted, actionId } = await start(policy({ proof: proof() }));
    await fleet.report(`d${refuted}`, actionId);
    await foldAll();
    expect(await sql("select from rollout_failures")).toEqual([]);
    await fleet.prove(`d${refuted}`, actionId, false);

    const { n: silent, actionId: givenUp } = await start(
      policy({ limits: { installingSeconds: 600, giveUpSeconds: 3_600, count: "error" } }),
    );
    await fleet.later(givenUp, 700);
    await fleet.settle();
    await fleet.later(givenUp, 3_000);
    await fleet.settle();
    await foldAll();
    const failures = await sql(
      "select rollout_id::int as rollout, code, message, n::int, sample from rollout_failures order by rollout_id",
    );
    expect(failures).toEqual([
      { rollout: refuted, code: null, message: expect.stringMatching(/^Update Server: /), n: 1, sample: [`d${refuted}`] },
      {
        rollout: silent,
        code: null,
        message: "Update Server: The device has not finished in time: given up.",
        n: 1,
        sample: [`d${silent}`],
      },
    ]);
  });
});
