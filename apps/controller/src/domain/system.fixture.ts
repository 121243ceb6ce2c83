import { forceType } from "@harrier/contracts";
import { IdBlocks } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import { putConfigData } from "../config-data/config-data.ts";
import { activateAutoConfirm, deactivateAutoConfirm } from "../confirmation/auto-confirm.ts";
import { confirm } from "../confirmation/confirm.ts";
import { deviceNamed, reportDeps, seedTargets } from "../device.fixture.ts";
import { report } from "../feedback/report.ts";
import { linksOf } from "../poll/poll.ts";
import { createPollReader, type PollReader } from "../poll/poll-reader.ts";
import { retrieve } from "../retrieval/retrieve.ts";
import { reportRunningVersion } from "../running-version/running-version.ts";
import { type Step, sets } from "./model.fixture.ts";

/** The service on PostgreSQL, which carries out the steps of model.fixture.ts. */
export interface System {
  fixture: CommandsFixture;
  ids: IdBlocks;
  readPoll: PollReader;
  /** The position of the outbox when each target was made. */
  outboxBefore: Map<number, number>;
}

export async function startSystem(): Promise<System> {
  const fixture = await commandsFixture();
  const management = fixture.database.db("management").pool;
  // The sets are complete without modules, so that a device may report them as its version.
  await management.query("update distribution_sets set complete = true where id = any($1)", [sets]);
  // Ids are taken one by one, so that their order is that of the steps.
  return { fixture, ids: new IdBlocks(fixture.db.pool, 1), readPoll: createPollReader(fixture.db.pool), outboxBefore: new Map() };
}

let lastTarget = 1_000;

/** Makes a target without actions. */
export async function newTarget(system: System): Promise<number> {
  lastTarget += 1;
  await seedTargets(system.fixture, [{ id: lastTarget }]);
  const [outbox] = await query<{ last: number }>(system, "select coalesce(max(id), 0)::int as last from outbox", []);
  system.outboxBefore.set(lastTarget, outbox?.last ?? 0);
  return lastTarget;
}

export async function query<Row>({ fixture }: System, text: string, values: unknown[]): Promise<Row[]> {
  return (await fixture.database.db("controller").pool.query(text, values)).rows;
}

export async function idsOf(system: System, n: number): Promise<number[]> {
  const rows = await query<{ id: number }>(system, "select id from actions where tenant_id = 1 and target_id = $1 order by id", [n]);
  return rows.map((row) => row.id);
}

/** Sets the tenant's switches as they are when the model begins. */
export async function resetSwitches(system: System): Promise<void> {
  await switchTo(system, "flow", true);
  await switchTo(system, "autoclose", false);
  await switchTo(system, "several", false);
}

async function switchTo({ fixture }: System, name: keyof typeof switches, on: boolean): Promise<void> {
  await fixture.database.db("management").pool.query(
    `insert into settings (tenant_id, key, value, created_by, last_modified_by) values (1, $1, $2, 'admin', 'admin')
     on conflict (tenant_id, key) do update set value = excluded.value`,
    [switches[name], JSON.stringify(on)],
  );
}

const switches = {
  flow: "user.confirmation.flow.enabled",
  autoclose: "repository.actions.autoclose.enabled",
  several: "multi.assignments.enabled",
} as const;

/** Carries out a step and answers like `take`; `actions` are the ids that places count, `sent` marks the step's reports in the history. */
export async function perform(
  system: System,
  n: number,
  step: Step,
  { actions, sent }: { actions: readonly number[]; sent: string },
): Promise<string> {
  try {
    if (!("place" in step)) return await performOnTarget(system, n, step, actions);
    const actionId = actions[step.place % Math.max(actions.length, 1)];
    if (actionId !== undefined) await performOnAction(system, n, step, { actionId, sent });
    return "ok";
  } catch (error) {
    if (error instanceof HarrierError && error.code !== "internal") return error.code;
    throw error;
  }
}

async function performOnAction(
  { fixture }: System,
  n: number,
  step: Extract<Step, { place: number }>,
  { actionId, sent }: { actionId: number; sent: string },
): Promise<unknown> {
  const device = deviceNamed(`d${n}`);
  const { db, recordRetrieval, limits, actions } = fixture;
  const one = { controllerId: device.controllerId, actionId };
  switch (step.kind) {
    case "report": {
      const { channel, execution, result: finished, code } = step;
      const feedback = { execution, finished, code: code ?? undefined, details: [sent], timestamp: undefined };
      return report(reportDeps(fixture), { device, channel, actionId, feedback });
    }
    case "look":
      return retrieve({ recordRetrieval, limits }, { device, resource: step.resource, actionId });
    case "answer":
      return confirm(
        { db, limits },
        { device, actionId, feedback: { confirmation: step.answer, code: step.code ?? undefined, details: [] } },
      );
    case "force":
      return actions.forceAction({ ...one, ifRevisions: [] }, contextOf());
    default:
      return actions.cancelAction({ ...one, force: step.kind === "quit" }, contextOf());
  }
}

async function performOnTarget(
  system: System,
  n: number,
  step: Exclude<Step, { place: number }>,
  known: readonly number[],
): Promise<string> {
  const device = deviceNamed(`d${n}`);
  const { fixture, ids, readPoll } = system;
  const { db, limits, actions } = fixture;
  switch (step.kind) {
    case "assign": {
      const { setId, migrationStep, weight, confirmationRequired } = step;
      const force = Object.entries(forceType).find(([, code]) => code === step.force)?.[0] as string;
      const items = [itemOf(device.controllerId, { forceType: force, weight, confirmationRequired })];
      const request = { set: reservedSet(setId, migrationStep), items, initiator: "admin" };
      const { alreadyAssigned = 0 } = await actions.assignSet(request, contextOf());
      return alreadyAssigned > 0 ? "already" : "ok";
    }
    case "runs":
      return (await reportRunningVersion({ db, limits, ids }, device, { name: `set ${step.setId}`, version: "1.0" })) ? "ok" : "already";
    case "autoConfirm":
      if (step.on) await activateAutoConfirm({ db }, device, { initiator: undefined, remark: undefined });
      else await deactivateAutoConfirm({ db }, device);
      return "ok";
    case "attributes":
      await putConfigData({ db, limits }, device, { mode: "merge", data: { a: "b" } });
      return "ok";
    case "poll": {
      const row = await readPoll({ tenantId: device.tenantId, controllerId: device.controllerId, address: null });
      if (row === undefined) throw new Error(`no target ${device.controllerId}`);
      const links = Object.entries(linksOf(row, device, Date.now()));
      return links.map(([rel, link]) => [rel, ...placeIn(known, link?.href ?? "")].join(" ")).join(", ");
    }
    case "several":
      await switchTo(system, "several", true);
      return "ok";
    default:
      await switchTo(system, step.kind, step.on);
      return "ok";
  }
}

/** Returns the action of a link as the model counts it. */
function placeIn(actions: readonly number[], href: string): number[] {
  const id = /\/(\d+)(?:\?c=-?\d+)?$/.exec(href)?.[1];
  return id === undefined ? [] : [actions.indexOf(Number(id)) + 1];
}

/** An action with its history and the sequences of its events. */
export interface Stored {
  id: number;
  status: number;
  active: boolean;
  force_type: number;
  set_id: number;
  revision: number;
  last_status_code: number | null;
  entries: number[];
  revisions: number[];
  messages: string[];
  events: number[];
}

export function storedActions(system: System, n: number): Promise<Stored[]> {
  return query<Stored>(
    system,
    `with events as (
       select (i.item->>0)::bigint as action_id, (i.item->>2)::int as sequence
         from outbox o cross join lateral json_array_elements(o.items) as i (item)
        where o.id > $2 and o.topic = 'action-events' and i.item->>1 = 'd' || $1::int)
     select a.id, a.status, a.active, a.force_type, a.set_id, a.revision, a.last_status_code, h.entries, h.revisions,
            array(select m from action_history x cross join unnest(x.messages) m where x.tenant_id = 1 and x.action_id = a.id) as messages,
            array(select e.sequence from events e where e.action_id = a.id order by 1) as events
       from actions a
      cross join lateral (
        select array_agg(h.status::int order by h.revision) as entries, array_agg(h.revision order by h.revision) as revisions
          from action_statuses_v1 h where h.tenant_id = 1 and h.action_id = a.id) h
      where a.tenant_id = 1 and a.target_id = $1 order by a.id`,
    [n, system.outboxBefore.get(n)],
  );
}
