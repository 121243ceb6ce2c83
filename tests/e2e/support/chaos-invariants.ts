import type { Stack } from "@harrier/stack";
import { eventually, withClient } from "@harrier/testkit";

// The statements check every row after the chaos; each returns what violates an invariant, at most ten rows of a kind.

// Of the attempts for a target only the last one counts.
const actionOfEveryMember = `
  select 'target ' || m.target_id || ' has ' || count(a.id) || ' actions of the rollout that count' as fault
    from rollout_engine.group_members m
    left join controller.actions a on a.tenant_id = m.tenant_id and a.rollout_id = m.rollout_id and a.target_id = m.target_id and a.retried_by is null
   where m.tenant_id = 1 and m.rollout_id = $1
   group by m.target_id having count(a.id) <> 1 limit 10`;

const sameAsMembers = `
  select 'the rollout has ' || m.n || ' members and ' || a.n || ' actions for ' || $2::int || ' targets' as fault
    from (select count(*)::int as n from rollout_engine.group_members where tenant_id = 1 and rollout_id = $1) m,
         (select count(*)::int as n from controller.actions where tenant_id = 1 and rollout_id = $1 and retried_by is null) a
   where m.n <> $2::int or a.n <> $2::int`;

const openActions = `
  select 'action ' || id || ' of rollout ' || coalesce(rollout_id::text, 'none') || ' is open, status ' || status as fault
    from controller.actions where tenant_id = 1 and (active or status = 8) limit 10`;

const counts = `
  with counted as (
    select rollout_id, group_id, controller.action_bucket(status, force_type, tally) as bucket, count(*)::bigint as n
      from controller.actions where tenant_id = 1 and rollout_id is not null and retried_by is null group by 1, 2, 3
  ), kept as (
    select p.rollout_id, p.group_id, b.bucket, b.n from controller.group_progress_v1 p
     cross join lateral (values (0::smallint, p.scheduled), (1::smallint, p.running - p.proving - p.silent - p.retrying), (2::smallint, p.finished),
                                (3::smallint, p.error), (4::smallint, p.cancelled), (5::smallint, p.proving), (6::smallint, p.silent),
                                (7::smallint, p.retrying)) b (bucket, n)
     where p.tenant_id = 1 and b.n <> 0
  )
  select 'group ' || coalesce(c.group_id, k.group_id) || ' bucket ' || coalesce(c.bucket, k.bucket) || ': ' || coalesce(c.n, 0) || ' actions, '
         || coalesce(k.n, 0) || ' by the counters' as fault
    from counted c full join kept k using (rollout_id, group_id, bucket)
   where c.n is distinct from k.n limit 10`;

const histories = `
  select 'action ' || a.id || ' at revision ' || a.revision || ' has a history of ' || h.n || ' entries up to ' || coalesce(h.last, 0) as fault
    from controller.actions a
    cross join lateral (select count(*) as n, max(revision) as last from controller.action_statuses_v1 h
                         where h.tenant_id = a.tenant_id and h.action_id = a.id) h
   where a.tenant_id = 1 and (h.n <> a.revision or h.last <> a.revision) limit 10`;

// The relay sends by id, so the events of a target and of a rollout must have their ids in the order of the changes.
const actionEvents = `
  with told as (
    select (e.item ->> 0)::bigint as id, (e.item ->> 2)::int as sequence, row_number() over (partition by (e.item ->> 0)::bigint order by o.id, e.n) as n
      from controller.outbox o cross join lateral json_array_elements(o.items) with ordinality e (item, n)
     where o.tenant_id = 1 and o.topic = 'action-events'
  ), sums as (
    select id, count(*) as n, bool_and(sequence = n) as ordered from told group by id
  )
  select 'events of action ' || a.id || ': ' || coalesce(s.n, 0) || ' for revision ' || a.revision || case when s.ordered then '' else ', with a gap' end as fault
    from controller.actions a left join sums s on s.id = a.id
   where a.tenant_id = 1 and (s.n is distinct from a.revision or not s.ordered) limit 10`;

const rolloutEvents = `
  with told as (
    select (o.common ->> 'rolloutId')::bigint as id, (e.item ->> 'sequence')::int as sequence,
           row_number() over (partition by o.common ->> 'rolloutId' order by o.id, e.n) as n
      from rollout_engine.outbox o cross join lateral json_array_elements(o.items) with ordinality e (item, n)
     where o.tenant_id = 1 and o.topic = 'rollout-events'
  ), sums as (
    select id, count(*) as n, bool_and(sequence = n) as ordered from told group by id
  )
  select 'events of rollout ' || s.id || ': ' || s.n || ', the rollout counts ' || coalesce(r.sequence::text, 'nothing') as fault
    from sums s left join rollout_engine.rollouts r on r.tenant_id = 1 and r.id = s.id
   where not s.ordered or r.sequence <> s.n
  union all
  select 'rollout ' || r.id || ' has no events' from rollout_engine.rollouts r
   where r.tenant_id = 1 and not exists (select from sums s where s.id = r.id) limit 10`;

const failures = `
  select 'rollout ' || rollout_id || ' still says: ' || last_error as fault from rollout_engine.leases where tenant_id = 1 and last_error is not null limit 10`;

// Attempts are numbered without a gap, each has one successor or none, and only the last one counts.
const attempts = `
  select 'target ' || min(target_id) || ' has the attempts ' || string_agg(attempt::text, ' ' order by id) || ' from action ' || coalesce(retry_of, id) as fault
    from controller.actions where tenant_id = 1
   group by coalesce(retry_of, id)
  having max(attempt) <> count(*) or count(distinct attempt) <> count(*) or count(*) filter (where retried_by is null) <> 1
         or count(distinct retried_by) <> count(*) - 1
   limit 10`;

const watches = `
  select 'action ' || action_id || ' is still watched, stage ' || stage || ', due ' || coalesce(due_at::text, 'never') as fault
    from controller.action_watches where tenant_id = 1 limit 10`;

// What a watch comes to is settled once; only a device can be silent again after it has spoken.
const settledOnce = `
  select 'action ' || action_id || ' has ' || count(*) || ' times: ' || messages[1] as fault
    from controller.action_history
   where tenant_id = 1 and messages[1] ~ '^Update Server: (The device|The success|A newer update|Attempt|No further attempt)'
   group by action_id, messages[1] having count(*) > 1 limit 10`;

const everywhere = [openActions, counts, histories, actionEvents, rolloutEvents, failures, attempts, watches, settledOnce];

/** Returns every violated invariant that holds for any actions and rollouts, once all of them are over. */
export function violatedAnywhere(stack: Stack): Promise<string[]> {
  return violated(
    stack,
    everywhere.map((text) => [text, []]),
  );
}

/** Returns every violated invariant after a chaos test over `targets` targets with this main rollout. */
export function violatedInvariants(stack: Stack, rolloutId: number, targets: number): Promise<string[]> {
  return violated(stack, [
    [sameAsMembers, [rolloutId, targets]],
    [actionOfEveryMember, [rolloutId]],
    ...everywhere.map((text): [string, unknown[]] => [text, []]),
  ]);
}

/** Waits until no action is open and nothing is awaited of any. */
export function nothingAwaited(stack: Stack, limitMs: number): Promise<void> {
  const text = `
    select (select count(*) from controller.actions where tenant_id = 1 and active)::int as open,
           (select count(*) from controller.action_watches where tenant_id = 1)::int as watched`;
  return eventually(
    async () => {
      const row = await withClient(stack.adminDatabaseUrl as string, async (client) => (await client.query(text)).rows[0]);
      if (row.open > 0 || row.watched > 0) throw new Error(`${row.open} actions are open, ${row.watched} are watched`);
    },
    limitMs,
    500,
  );
}

/** Counts how the actions of a rollout ended by its policy; a target may be in several of these. */
export function countedEnds(
  stack: Stack,
  rolloutId: number,
): Promise<Record<"proven" | "refuted" | "tried again" | "silent once", number>> {
  const text = `
    select count(*) filter (where a.outcome / 10 = 1)::int as proven, count(*) filter (where a.outcome / 10 = 3)::int as refuted,
           count(*) filter (where a.attempt > 1)::int as "tried again",
           count(*) filter (where exists (select from controller.action_history h
                                           where h.tenant_id = 1 and h.action_id = a.id and h.messages[1] like '%Nothing heard for%'))::int as "silent once"
      from controller.actions a where a.tenant_id = 1 and a.rollout_id = $1`;
  return withClient(stack.adminDatabaseUrl as string, async (client) => (await client.query(text, [rolloutId])).rows[0]);
}

function violated(stack: Stack, questions: readonly (readonly [text: string, values: unknown[]])[]): Promise<string[]> {
  return withClient(stack.adminDatabaseUrl as string, async (client) => {
    const found: string[] = [];
    await client.query("set search_path to controller; analyze controller.actions; analyze controller.action_history");
    for (const [text, values] of questions) {
      const { rows } = await client.query<{ fault: string }>(text, values);
      found.push(...rows.map(({ fault }) => fault));
    }
    return found;
  });
}
