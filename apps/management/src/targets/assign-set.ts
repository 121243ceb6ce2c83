import { type DistributionSetAssignment, maxOpenActions, type TargetAssignment } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, quotaExceeded, toHarrierError } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { AssignmentItemInput, AssignSetResponse, Client, ReserveSetResponse } from "@harrier/rpc";
import { endUse, reserveAll } from "../catalogue/reserve-set.ts";
import { limitsOf } from "../quotas/limits.ts";
import { planAssignmentSafety } from "../safety/assignment-safety.ts";
import { allowsSeveralAssignments } from "../settings/settings.ts";
import { checkItems, distinctIds, newCommandId, toAssignment } from "./assignment.ts";
import { findTargets } from "./targets.sql.ts";
import type { Actor } from "./targets.ts";

interface Deps {
  db: Database;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "assignSet" | "assignSets" | "assignOffline">;
  now: () => number;
}

const nothing: AssignSetResponse = { alreadyAssigned: 0, actions: [] };

export interface TargetsOfSetRequest {
  setId: number;
  items: readonly TargetAssignment[];
  offline: boolean;
}

/** Assigns one set to many targets (spec 001 §4.1); unknown targets are not counted. */
export async function assignTargets(deps: Deps, actor: Actor, request: TargetsOfSetRequest): Promise<AssignSetResponse> {
  if (request.offline) {
    const controllerIds = distinctIds(request.items, await maxItems(deps, actor, request.items));
    return inOrder(request.items, await assignOffline(deps, actor, { setId: request.setId, controllerIds }));
  }
  const items = await check(deps, actor, request.items, () => allowsSeveral(deps, actor));
  if (items.length === 0) return nothing;
  const { setId } = request;
  const { indexes, ...safety } = await planAssignmentSafety(
    deps,
    actor.identity,
    items.map((item) => ({ ...item, setId, controllerId: item.id })),
  );
  const assigned = items.map((item, n) => toAssignment(item, item.id, indexes[n]));
  return inOrder(items, await assign(deps, actor, { setId, items: assigned, ...safety }));
}

/** Returns the actions in the order of the request, because clients rely on their positions (contract management.md §4.1.2). */
function inOrder(items: readonly { id: string }[], answer: AssignSetResponse): AssignSetResponse {
  const places = new Map(items.map(({ id }, n) => [id, n]));
  const placeOf = ({ controllerId }: { controllerId: string }) => places.get(controllerId) ?? items.length;
  return { ...answer, actions: answer.actions.toSorted((a, b) => placeOf(a) - placeOf(b)) };
}

export interface SetsOfTargetRequest {
  controllerId: string;
  items: readonly DistributionSetAssignment[];
  offline: boolean;
}

/**
 * Assigns sets to one target (spec 001 §4.2): one or, where the tenant allows it, several, which the device installs in the order of their
 * weight (contract management.md §5.3). All or none are assigned: a set that may not be assigned refuses the others too.
 */
export async function assignSets(deps: Deps, actor: Actor, request: SetsOfTargetRequest): Promise<AssignSetResponse> {
  if (request.offline) return reportSet(deps, actor, request);
  let answer: Promise<boolean> | undefined;
  // The check also reads the setting where a set is named twice, and one round trip is enough for both.
  const several = (): Promise<boolean> => {
    answer ??= allowsSeveral(deps, actor);
    return answer;
  };
  const items = await check(deps, actor, request.items, several);
  const { identity } = actor;
  if (items.length > 1) {
    if (!(await several())) throw new HarrierError("multiAssignmentNotEnabled");
    checkOpen(request.controllerId, items.length);
  }
  const target = await runOne(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), [request.controllerId]]);
  // An unknown target is an error here, unlike in a list of targets, where it is not counted (contract management.md §5.3).
  if (target === undefined) throw entityNotFound("Target", request.controllerId);
  const [item] = items;
  if (item === undefined) return nothing;
  const { controllerId } = request;
  const { indexes, ...safety } = await planAssignmentSafety(
    deps,
    identity,
    items.map((each) => ({ ...each, setId: each.id, controllerId })),
  );
  if (items.length === 1) return assign(deps, actor, { setId: item.id, items: [toAssignment(item, controllerId, indexes[0])], ...safety });
  const setIds = [...new Set(items.map(({ id }) => id))];
  const command = {
    items: items.map((each, n) => ({ ...toAssignment(each, controllerId, indexes[n]), setIndex: setIds.indexOf(each.id) })),
    ...safety,
    initiator: identity.subject,
  };
  return withReservedSets(deps, actor, setIds, (sets) => deps.actions.assignSets({ ...command, sets }, actor.out(newCommandId("assign"))));
}

/** Refuses so many sets before they are reserved, because no target may have so many open actions at once. */
function checkOpen(controllerId: string, n: number): void {
  if (n > maxOpenActions) throw quotaExceeded({ n, of: "Open Action", owner: `Target '${controllerId}'`, limit: maxOpenActions });
}

type Items = readonly (TargetAssignment | DistributionSetAssignment)[];

/** A single item, as in most requests, is within every limit, so only several items cost the round trip. */
async function maxItems(deps: Deps, actor: Actor, items: Items): Promise<number> {
  return items.length < 2 ? 0 : (await limitsOf(deps.db.pool, actor.identity.tenantId)).ASSIGNMENTS_PER_REQUEST_MAX_COUNT;
}

function allowsSeveral(deps: Deps, actor: Actor): Promise<boolean> {
  return allowsSeveralAssignments(deps.db.pool, actor.identity.tenantId);
}

async function check<T extends Items[number]>(deps: Deps, actor: Actor, items: readonly T[], several: () => Promise<boolean>) {
  const max = await maxItems(deps, actor, items);
  return checkItems(items, { now: deps.now(), max, several });
}

/** Only the ids of an offline assignment count (contract management.md §5.5), and an unknown target is not an error. */
async function reportSet(deps: Deps, actor: Actor, { controllerId, items }: SetsOfTargetRequest): Promise<AssignSetResponse> {
  const [setId, second] = distinctIds(items, await maxItems(deps, actor, items));
  if (second !== undefined)
    throw new HarrierError("multiAssignmentNotEnabled", "A target runs one distribution set: only one can be reported.");
  return setId === undefined ? nothing : assignOffline(deps, actor, { setId, controllerIds: [controllerId] });
}

async function assignOffline(deps: Deps, actor: Actor, requested: { setId: number; controllerIds: string[] }): Promise<AssignSetResponse> {
  const { controllerIds, setId } = requested;
  if (controllerIds.length === 0) return nothing;
  const command = { controllerIds, initiator: actor.identity.subject };
  return withReservedSet(deps, actor, setId, (set) =>
    deps.actions.assignOffline({ ...command, set }, actor.out(newCommandId("assign-offline"))),
  );
}

interface Assigned {
  setId: number;
  items: AssignmentItemInput[];
  /** The policies that the items name by their places. */
  safeties?: string;
}

async function assign(deps: Deps, actor: Actor, { setId, ...requested }: Assigned): Promise<AssignSetResponse> {
  const command = { ...requested, initiator: actor.identity.subject };
  return withReservedSet(deps, actor, setId, (set) => deps.actions.assignSet({ ...command, set }, actor.out(newCommandId("assign"))));
}

function withReservedSet<Answer>(deps: Deps, actor: Actor, setId: number, command: (set: ReserveSetResponse) => Promise<Answer>) {
  return withReservedSets(deps, actor, [setId], ([set]) => command(set as ReserveSetResponse));
}

/** Reserves the sets and then sends the command; the reservations keep the sets from being deleted meanwhile. */
async function withReservedSets<Answer>(
  deps: Deps,
  { identity }: Actor,
  setIds: readonly number[],
  command: (sets: ReserveSetResponse[]) => Promise<Answer>,
): Promise<Answer> {
  const sets = await reserveAll(deps, identity, setIds);
  try {
    const answer = await command(sets);
    await endQuietly(deps, identity, setIds);
    return answer;
  } catch (thrown) {
    const error = toHarrierError(thrown);
    // Where the outcome is unknown, the reservation stays until it expires.
    const unknown = error.code === "internal" || error.code === "unavailable" || error.code === "deadlineExceeded";
    if (!unknown) await endQuietly(deps, identity, setIds);
    throw error;
  }
}

/** Ends the reservations. The outcome is certain already, and a reservation that cannot be ended now expires. */
async function endQuietly(deps: Deps, identity: Actor["identity"], setIds: readonly number[]): Promise<void> {
  await endUse(deps, identity, setIds).catch(() => undefined);
}
