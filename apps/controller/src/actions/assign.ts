import { forceType } from "@harrier/contracts";
import { type Database, type IdBlocks, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type {
  AssignmentItem,
  AssignOfflineRequest,
  AssignSetRequest,
  AssignSetResponse,
  AssignSetsRequest,
  CallContext,
} from "@harrier/rpc";
import { evictActions } from "../cleanup/cleanup.sql.ts";
import { evictionPercent } from "../cleanup/rules.ts";
import { tooManyActions, tooManyOpenActions } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { scopeOf } from "../targets/targets.ts";
import { type AssignAnswer, assignOffline as record, assignSet as write, assignSets as writeSeveral } from "./assign.sql.ts";
import { forceTimeOf, forceTypeOf } from "./force.ts";
import { incompatibleSets, incompatibleTargets } from "./incompatible.ts";
import { policyTexts } from "./policies.ts";
import { windowLists } from "./windows.ts";

export interface AssignDeps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  fault: (name: string) => unknown;
  now: () => number;
  limits: LimitsOf;
  settings: Pick<TenantSettingsCache, "get">;
}

/**
 * Assigns one reserved set to many targets in one statement (contract management.md §5.3): all checks come first, then superseding, actions, state,
 * history and events together. A repeated command gets the actions of the first one.
 */
export async function assignSet(deps: AssignDeps, request: AssignSetRequest, ctx: CallContext): Promise<AssignSetResponse> {
  const { set, items } = request;
  if (set === null) throw new HarrierError("internal", "assignSet without a set");
  if (items.length === 0) return { alreadyAssigned: 0, actions: [] };
  const { tenantId, tenant, max, scope, rest } = await prepare(deps, ctx, { actions: items.length, initiator: request.initiator });
  const policies = policiesOf(request);
  const assign = () =>
    runOne(deps.db.pool, write, [
      tenantId,
      tenant,
      ctx.commandId ?? "",
      set.id,
      set.name,
      set.version,
      set.typeId,
      set.migrationStep,
      items.map((i) => i.controllerId),
      ...itemLists(items, deps.now()),
      ...rest,
      ...policies,
    ]);
  const controllerIds = items.map((i) => i.controllerId);
  const row = await withEviction(deps, { tenantId, setId: set.id, controllerIds, max, scope }, assign);
  await deps.fault("controller.assign.after-commit");
  if (row?.answer.outcome === "incompatible") {
    throw await incompatibleTargets(deps.db.pool, { tenantId, setType: set.typeId, controllerIds, scope });
  }
  return toResponse(row?.answer, max);
}

/**
 * Assigns several reserved sets at once, each beside the open actions of its target (contract rollouts.md §6.9), in one statement: all or none. Only
 * a tenant with multi-assignment allows it; a target's actions of equal weight are offered in the order of the items.
 */
export async function assignSets(deps: AssignDeps, request: AssignSetsRequest, ctx: CallContext): Promise<AssignSetResponse> {
  const { sets, items } = request;
  if (items.some((i) => sets[i.setIndex] === undefined)) throw new HarrierError("internal", "an item without a set");
  if (items.length === 0) return { alreadyAssigned: 0, actions: [] };
  const { tenantId, tenant, max, scope, rest } = await prepare(deps, ctx, { actions: items.length, initiator: request.initiator });
  const controllerIds = items.map((i) => i.controllerId);
  const policies = policiesOf(request);
  const assign = () =>
    runOne(deps.db.pool, writeSeveral, [
      tenantId,
      tenant,
      ctx.commandId ?? "",
      sets.map((s) => s.id),
      sets.map((s) => s.name),
      sets.map((s) => s.version),
      sets.map((s) => s.typeId),
      sets.map((s) => s.migrationStep),
      controllerIds,
      items.map((i) => i.setIndex + 1),
      ...itemLists(items, deps.now()),
      ...rest,
      ...policies,
    ]);
  const row = await withEviction(deps, { tenantId, setId: sets[0]?.id ?? 0, controllerIds, max, scope }, assign);
  await deps.fault("controller.assign.after-commit");
  if (row?.answer.outcome === "incompatible") {
    const ofSet = (index: number) => items.filter((i) => i.setIndex === index).map((i) => i.controllerId);
    const requested = sets.map((set, index) => ({ setType: set.typeId, controllerIds: ofSet(index) }));
    throw await incompatibleSets(deps.db.pool, { tenantId, scope }, requested);
  }
  return toResponse(row?.answer, max);
}

function policiesOf(request: AssignSetRequest | AssignSetsRequest): [string | null, (number | null)[]] {
  const { safeties, items } = request;
  return [policyTexts(safeties), items.map(({ safetyIndex }) => (safetyIndex === undefined ? null : safetyIndex + 1))];
}

/** Turns the items into one list for each member. */
function itemLists(items: readonly AssignmentItem[], now: number) {
  return [
    items.map((i) => forceType[forceTypeOf(i.forceType)]),
    items.map((i) => forceTimeOf(i.forceType, i.forceTime)),
    items.map((i) => i.weight),
    ...windowLists(items, now),
    items.map((i) => i.confirmationRequired ?? true),
  ] as const;
}

/**
 * Records one reserved set for targets that run it already (contract management.md §5.5): each gets a finished action, the set is assigned and
 * installed at once, and their devices have nothing to do. Targets with an open update are counted as assigned and stay as they are.
 */
export async function assignOffline(deps: AssignDeps, request: AssignOfflineRequest, ctx: CallContext): Promise<AssignSetResponse> {
  const { set, controllerIds } = request;
  if (set === null) throw new HarrierError("internal", "assignOffline without a set");
  if (controllerIds.length === 0) return { alreadyAssigned: 0, actions: [] };
  const { tenantId, tenant, max, scope, rest } = await prepare(deps, ctx, { actions: controllerIds.length, initiator: request.initiator });
  const assign = () =>
    runOne(deps.db.pool, record, [
      tenantId,
      tenant,
      ctx.commandId ?? "",
      set.id,
      set.name,
      set.version,
      set.typeId,
      set.migrationStep,
      controllerIds,
      ...rest,
    ]);
  const row = await withEviction(deps, { tenantId, setId: set.id, controllerIds: [...new Set(controllerIds)], max, scope }, assign);
  await deps.fault("controller.assign.after-commit");
  if (row?.answer.outcome === "incompatible") {
    throw await incompatibleTargets(deps.db.pool, { tenantId, setType: set.typeId, controllerIds, scope });
  }
  return toResponse(row?.answer, max);
}

/** Takes the ids of the actions, and answers what every assignment needs. */
async function prepare(deps: AssignDeps, ctx: CallContext, { actions, initiator }: { actions: number; initiator: string }) {
  const { tenantId, tenant } = ctx.principal;
  const max = deps.limits(tenantId).ACTIONS_PER_TARGET_MAX_COUNT;
  const firstId = await deps.ids.take(tenantId, "action", actions);
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const rest = [firstId, max, scope, initiator, ctx.traceparent ?? null] as const;
  return { tenantId, tenant, max, scope, rest };
}

interface Requested {
  tenantId: number;
  setId: number;
  /** One id for each requested action: a target may be named several times. */
  controllerIds: string[];
  max: number;
  scope: number[] | null;
}

type Answered = { answer: AssignAnswer } | undefined;

/**
 * If a target is full, and the tenant wants its oldest closed actions evicted for new ones, this evicts them and tries once more (rollouts.md §4.4).
 */
async function withEviction(deps: AssignDeps, requested: Requested, assign: () => Promise<Answered>): Promise<Answered> {
  const { tenantId, setId, controllerIds, max, scope } = requested;
  const row = await assign();
  const percent = row?.answer.outcome === "quota" ? evictionPercent(deps.settings.get(tenantId)) : 0;
  if (percent === 0) return row;
  const made = await runOne(deps.db.pool, evictActions, [tenantId, controllerIds, setId, scope, max, percent]);
  return made?.removed ? assign() : row;
}

function toResponse(answer: AssignAnswer | undefined, max: number): AssignSetResponse {
  switch (answer?.outcome) {
    case "ok":
      return { alreadyAssigned: answer.already ?? 0, actions: answer.actions ?? [] };
    case "quota":
      throw tooManyActions(answer.controllerId ?? "", max);
    case "open":
      throw tooManyOpenActions(answer.controllerId ?? "", answer.limit ?? 0);
    case "notEnabled":
      throw new HarrierError("multiAssignmentNotEnabled");
    default:
      throw new HarrierError("internal");
  }
}
