import type { AssignmentItem, CallContext, Principal } from "@harrier/rpc";
import { actionsHandlers } from "./actions/actions.rpc.ts";
import { type DeviceFixture, deviceFixture, seedSet, seedTargets, type TargetSeed, tenantId } from "./device.fixture.ts";
import type { LimitsOf } from "./domain/quotas.ts";
import { withDefaults } from "./settings/defaults.ts";
import { targetsHandlers } from "./targets/targets.rpc.ts";

export type Actions = ReturnType<typeof actionsHandlers>;
export type Targets = ReturnType<typeof targetsHandlers>;

/** The commands of controller, over a database of their own. */
export interface CommandsFixture extends DeviceFixture {
  actions: Actions;
  targets: Targets;
  /** The names of the fault points that were passed. */
  faults: string[];
  /** The settings that the tenant has stored, as controller has them in memory. */
  stored: Record<string, unknown>;
  /** The ids of the next target and the next rollout that a test makes. */
  next: { target: number; rollout: number };
}

/** Starts the fixture with the sets 100, 101 and 102 (type 1). */
export async function commandsFixture(): Promise<CommandsFixture> {
  const device = await deviceFixture();
  for (const id of [100, 101, 102]) await seedSet(device, { id, modules: 0 });
  const faults: string[] = [];
  const stored: Record<string, unknown> = {};
  const settings = { get: () => withDefaults(Object.entries(stored).map(([key, value]) => ({ key, value }))) };
  const { db, ids, secrets } = device;
  const limits: LimitsOf = (tenant) => ({ ...device.limits(tenant), ...(stored.limits as object) });
  const fault = (name: string) => faults.push(name);
  return {
    ...device,
    faults,
    stored,
    next: { target: 1, rollout: 1 },
    actions: actionsHandlers({ db, ids, limits, settings, fault, now: Date.now }),
    targets: targetsHandlers({ db, ids, secrets, limits, fault }),
  };
}

let commands = 0;

/** Makes the context of a call by the administrator; each has a command id of its own unless one is given. */
export function contextOf(principal: Partial<Principal> = {}, commandId?: string): CallContext {
  commands += 1;
  return {
    principal: { tenantId, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: ["READ_TARGET_SECURITY_TOKEN"], ...principal },
    caller: "management",
    rid: "r1",
    traceparent: "00-11111111111111111111111111111111-2222222222222222-01",
    baseUrl: "http://ota.example",
    deadline: Number.POSITIVE_INFINITY,
    commandId: commandId ?? `command ${commands}`,
    signal: new AbortController().signal,
    remaining: () => 30_000,
  };
}

/** This is management's answer when the set was reserved. */
export const reservedSet = (id = 100, migrationStep = false) => ({ id, name: `set ${id}`, version: "1.0", typeId: 1, migrationStep });

/** Makes one item of an assignment, forced and at any time unless changed. */
export const itemOf = (controllerId: string, change: Partial<AssignmentItem> = {}): AssignmentItem => ({
  controllerId,
  forceType: "forced",
  forceTime: 0,
  weight: 1000,
  maintenanceWindow: null,
  setIndex: 0,
  ...change,
});

/** Stores a setting of the tenant, or removes it. */
export async function setSetting(fixture: DeviceFixture, key: string, value: unknown): Promise<void> {
  const { pool } = fixture.database.db("management");
  await pool.query("delete from settings where tenant_id = 1 and key = $1", [key]);
  if (value === undefined) return;
  await pool.query("insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, $1, $2, 'admin', 'admin')", [
    key,
    JSON.stringify(value),
  ]);
}

/** Stores members of a group as rollout-engine has frozen them, in the order given. */
export async function seedMembers(
  fixture: DeviceFixture,
  group: { rolloutId: number; groupId: number },
  targetIds: number[],
): Promise<void> {
  await fixture.database.db("rollout-engine").pool.query(
    `insert into group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
     select 1, $1, $2, coalesce((select max(ordinal) + 1 from group_members where tenant_id = 1 and rollout_id = $1), 0) + m.n - 1, m.id
       from unnest($3::int[]) with ordinality as m (id, n)`,
    [group.rolloutId, group.groupId, targetIds],
  );
}

/** Makes new targets `d<id>`; answers their ids. */
export async function newTargets(fixture: CommandsFixture, n: number, seed: Omit<TargetSeed, "id"> = {}): Promise<number[]> {
  const ids = Array.from({ length: n }, () => fixture.next.target++);
  await seedTargets(
    fixture,
    ids.map((id) => ({ id, ...seed })),
  );
  return ids;
}

export async function newTarget(fixture: CommandsFixture, seed: Omit<TargetSeed, "id"> = {}): Promise<number> {
  const [id = 0] = await newTargets(fixture, 1, seed);
  return id;
}

/** Assigns a set to a target; answers the id of the action. */
export async function assignTo(
  fixture: CommandsFixture,
  target: number,
  { setId = 100, ...item }: Partial<AssignmentItem> & { setId?: number } = {},
): Promise<number> {
  const request = { set: reservedSet(setId), items: [itemOf(`d${target}`, item)], initiator: "admin" };
  const { actions } = await fixture.actions.assignSet(request, contextOf());
  return Number(actions?.[0]?.id);
}

/** Opens the fence of a new rollout whose group 1 has as members these targets, or so many new ones. */
export async function openRollout(
  fixture: CommandsFixture,
  members: number | number[],
): Promise<{ rolloutId: number; targetIds: number[] }> {
  const rolloutId = fixture.next.rollout++;
  const targetIds = typeof members === "number" ? await newTargets(fixture, members) : members;
  await seedMembers(fixture, { rolloutId, groupId: 1 }, targetIds);
  await fixture.actions.openFence({ rolloutId, epoch: 1 }, contextOf());
  return { rolloutId, targetIds };
}

export const chunkOf = (
  rolloutId: number,
  change: { groupId?: number; epoch?: number; cursor?: number; setId?: number; confirmationRequired?: boolean; safety?: string } = {},
) => ({
  rolloutId,
  groupId: change.groupId ?? 1,
  epoch: change.epoch ?? 1,
  cursor: change.cursor ?? -1,
  set: reservedSet(change.setId ?? 100),
  forceType: "forced",
  forceTime: 0,
  weight: 1000,
  initiator: "creator",
  rolloutName: `rollout ${rolloutId}`,
  groupName: "group-1",
  joining: false,
  maintenanceWindow: null,
  confirmationRequired: change.confirmationRequired ?? true,
  safetyOfTypes: [] as { targetTypes: number[]; safety: string }[],
  ...(change.safety === undefined ? {} : { safety: change.safety }),
});

/** Schedules and starts all members of a group of an open rollout. */
export async function runGroup(fixture: CommandsFixture, chunk: ReturnType<typeof chunkOf>): Promise<void> {
  const { rolloutId, epoch } = chunk;
  await fixture.actions.openFence({ rolloutId, epoch }, contextOf());
  await fixture.actions.scheduleChunk(chunk, contextOf());
  await fixture.actions.startChunk(chunk, contextOf());
}

export interface RolloutAction {
  id: number;
  targetId: number;
  status: number;
  active: boolean;
  revision: number;
}

export async function actionsOfRollout(fixture: DeviceFixture, rolloutId: number): Promise<RolloutAction[]> {
  const { rows } = await fixture.database
    .db("controller")
    .pool.query(`select id, target_id as "targetId", status, active, revision from actions where rollout_id = $1 order by target_id`, [
      rolloutId,
    ]);
  return rows;
}

/** Reads the progress of a group as the engine sees it: scheduled, running, finished, error, cancelled. */
export async function progressOf(fixture: DeviceFixture, rolloutId: number, groupId = 1): Promise<number[]> {
  const { rows } = await fixture.database.db("rollout-engine").pool.query(
    `select scheduled, running, finished, error, cancelled from controller.group_progress_v1
      where tenant_id = 1 and rollout_id = $1 and group_id = $2`,
    [rolloutId, groupId],
  );
  return rows[0] === undefined ? [0, 0, 0, 0, 0] : Object.values(rows[0]);
}

/** Reads the same, counted over the actions themselves. */
export async function countedProgress(fixture: DeviceFixture, rolloutId: number, groupId = 1): Promise<number[]> {
  const { rows } = await fixture.database.db("controller").pool.query(
    `select array_agg((select count(*) from actions a where a.tenant_id = 1 and a.rollout_id = $1 and a.group_id = $2
                          and a.retried_by is null and case when action_bucket(a.status, a.force_type, a.tally) > 4 then 1
                              else action_bucket(a.status, a.force_type, a.tally) end = b) order by b) as counts from generate_series(0, 4) b`,
    [rolloutId, groupId],
  );
  return rows[0].counts;
}

/** Checks for every action that its history is 1..revision, and so are its events. Returns what is wrong. */
export async function brokenSequences(fixture: DeviceFixture): Promise<unknown[]> {
  const { rows } = await fixture.database.db("controller").pool.query(
    `with events as (
       select o.tenant_id, (i.item->>0)::bigint as action_id, (i.item->>2)::int as sequence
         from outbox o cross join lateral json_array_elements(o.items) as i (item) where o.topic = 'action-events')
     select a.id, a.revision,
            (select array_agg(h.revision order by h.revision) from action_statuses_v1 h where h.tenant_id = a.tenant_id and h.action_id = a.id) as history,
            (select array_agg(e.sequence order by e.sequence) from events e where e.tenant_id = a.tenant_id and e.action_id = a.id) as events
       from actions a
      where (select array_agg(h.revision order by h.revision) from action_statuses_v1 h where h.tenant_id = a.tenant_id and h.action_id = a.id)
              is distinct from (select array_agg(n) from generate_series(1, a.revision) n)
         or (select array_agg(e.sequence order by e.sequence) from events e where e.tenant_id = a.tenant_id and e.action_id = a.id)
              is distinct from (select array_agg(n) from generate_series(1, a.revision) n)`,
  );
  return rows;
}
