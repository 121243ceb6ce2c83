import type { Queryable } from "@harrier/db";
import { driveRollout } from "../engine/drive.ts";
import type { Actions } from "../engine/perform.ts";
import { createRollout } from "../rollouts/create-rollout.ts";
import { deleteRollout, pauseRollout, resumeRollout, startRollout, stopRollout, triggerNextGroup } from "../rollouts/rollout-commands.ts";
import { rolloutBody } from "./database.fixture.ts";
import type { EngineFixture } from "./engine.fixture.ts";

/** The events that may happen to a rollout, with their relative frequency. */
export const randomEvents = {
  tick: 4,
  crash: 2,
  start: 1,
  pause: 1,
  resume: 1,
  trigger: 1,
  finished: 2,
  error: 1,
  cancelled: 1,
  silent: 1,
  speaks: 0.5,
  claims: 1,
  proven: 0.5,
  refuted: 0.5,
  "fails for now": 0.5,
  "fails for good": 0.5,
  "targets deleted": 1,
  stop: 0.3,
  delete: 0.3,
} as const;
/** The `seed` decides what is left open: which group, which moment. */
export interface RandomEvent {
  do: keyof typeof randomEvents;
  seed: number;
}

export const groupsOfOne = 3;
export const targetsOfOne = 12;
class Crash extends Error {}

/** Creates a rollout on targets of its own, and answers what can happen to it. */
export async function newRollout(fixture: EngineFixture, prefix: string, body: Record<string, unknown>) {
  await fixture.addTargets(prefix, targetsOfOne);
  const whole = rolloutBody({ targetFilterQuery: `name==${prefix}-*`, amountGroups: groupsOfOne, ...body });
  const id = await createRollout(fixture.create, whole, fixture.call);
  const command = async (work: Promise<unknown>) => {
    // a command on a rollout in the wrong state, or on a removed one, is refused and has changed nothing
    await work.catch((error: { code?: string }) => {
      if (error.code !== "rolloutIllegalState" && error.code !== "entityNotFound") throw error;
    });
  };
  const groups = (await fixture.groups(id)).map((group) => group.id);
  const groupAt = (seed: number) => groups[seed % groupsOfOne] ?? 0;

  /** Runs one round of an engine that dies at its `dieAt`th call or statement, before or after that has taken effect. */
  async function round(dieAt: number): Promise<void> {
    let contacts = 0;
    const hook = () => {
      contacts += 1;
      if (contacts === dieAt) throw new Crash();
    };
    const actions = Object.fromEntries(
      Object.entries(fixture.controller.actions).map(([name, call]) => [
        name,
        async (request: never, out: never) => {
          hook();
          const answer = await call(request, out);
          hook();
          return answer;
        },
      ]),
    ) as unknown as Actions;
    // the clock advances with every reading, so that rounds also end in the middle of the work
    let now = Date.now();
    const deps = { db: fixture.create.db, actions, fault: hook, now: () => (now += 60) };
    await driveRollout(deps, { tenantId: 1, rolloutId: id }, new AbortController().signal).catch((error: { code?: string }) => {
      if (!(error instanceof Crash)) throw error;
    });
  }

  const { drive, call, controller } = fixture;
  const does: Record<RandomEvent["do"], (seed: number) => Promise<unknown>> = {
    tick: () => round(0),
    crash: (seed) => round(1 + (seed % 6)),
    start: () => command(startRollout(drive, call, id)),
    pause: () => command(pauseRollout(drive, call, id)),
    resume: () => command(resumeRollout(drive, call, id)),
    trigger: () => command(triggerNextGroup(drive, call, id)),
    stop: () => command(stopRollout(drive, call, id)),
    delete: () => command(deleteRollout(drive, call, id)),
    finished: async (seed) => controller.reportAtMost(id, groupAt(seed), 1 + (seed % 4), "finished"),
    error: async (seed) => controller.reportAtMost(id, groupAt(seed), 1 + (seed % 3), "error"),
    cancelled: async (seed) => controller.reportAtMost(id, groupAt(seed), 1, "cancelled"),
    silent: async (seed) => controller.watch(id, groupAt(seed), 1 + (seed % 3), "silent"),
    speaks: async (seed) => controller.watch(id, groupAt(seed), 1 + (seed % 2), "speaks"),
    claims: async (seed) => controller.watch(id, groupAt(seed), 1 + (seed % 4), "claims"),
    proven: async (seed) => controller.watch(id, groupAt(seed), 1 + (seed % 3), "proven"),
    refuted: async (seed) => controller.watch(id, groupAt(seed), 1 + (seed % 2), "refuted"),
    "fails for now": async (seed) => controller.watch(id, groupAt(seed), 1 + (seed % 2), "fails for now"),
    "fails for good": async (seed) => controller.watch(id, groupAt(seed), 1, "fails for good"),
    "targets deleted": async (seed) => controller.deleteTargets(id, groupAt(seed), 1),
  };
  return { id, happen: (what: RandomEvent) => does[what.do](what.seed) };
}

/** A snapshot of everything that the invariants depend on. */
export interface Snapshot {
  /** Null stands for a removed rollout. */
  status: string | null;
  groups: { id: number; status: string; started: boolean; counts: number[]; actions: number[] }[];
  /** The number of members, by group, whose target still exists and that do not have exactly one action. */
  withoutOne: Record<string, number>;
  doubles: number;
}

const snapshotQuery = `
  select (select status from rollout_engine.rollouts where tenant_id = 1 and id = $1) as status,
    (select coalesce(json_agg(json_build_object('id', g.id, 'status', g.status, 'started', g.started,
        'counts', (select json_build_array(coalesce(sum(p.scheduled), 0), coalesce(sum(p.running), 0), coalesce(sum(p.finished), 0), coalesce(sum(p.error), 0), coalesce(sum(p.cancelled), 0),
                          coalesce(sum(p.proving), 0), coalesce(sum(p.silent), 0), coalesce(sum(p.retrying), 0))
                     from controller.group_progress_v1 p where p.tenant_id = 1 and p.rollout_id = g.rollout_id and p.group_id = g.id),
        'actions', (select json_build_array(count(*) filter (where b = 0), count(*) filter (where b in (1, 5, 6, 7)), count(*) filter (where b = 2), count(*) filter (where b = 3), count(*) filter (where b = 4),
                           count(*) filter (where b = 5), count(*) filter (where b = 6), count(*) filter (where b = 7))
                      from (select case a.tally when 1 then 5 when 3 then 6 when 4 then 7 else controller.action_bucket(a.status, a.force_type) end as b from controller.actions a
                             where a.tenant_id = 1 and a.rollout_id = g.rollout_id and a.group_id = g.id) x)) order by g.position), '[]')
       from rollout_engine.rollout_groups g where g.tenant_id = 1 and g.rollout_id = $1) as groups,
    (select coalesce(json_object_agg(group_id, n), '{}') from (
       select m.group_id, count(*) as n from rollout_engine.group_members m
         join controller.targets t on t.tenant_id = 1 and t.id = m.target_id
        where m.tenant_id = 1 and m.rollout_id = $1
          and (select count(*) from controller.actions a where a.tenant_id = 1 and a.rollout_id = $1 and a.target_id = m.target_id) <> 1
        group by 1) x) as "withoutOne",
    (select count(*)::int from (select 1 from controller.actions where tenant_id = 1 and rollout_id = $1 group by target_id having count(*) > 1) x) as doubles`;

/** Reads the snapshot. `db` must be the superuser, because base tables are read. */
export async function snapshot(db: Pick<Queryable, "query">, id: number): Promise<Snapshot> {
  const { rows } = await db.query<Snapshot & Record<string, unknown>>({ text: snapshotQuery, values: [id] });
  return rows[0] as Snapshot;
}
