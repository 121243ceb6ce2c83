import { type DistributionSetAssignment, mostOpenActions, type TargetAssignment } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, quotaExceeded, toHarrierError } from "@harrier/errors";
import type { AssignmentItemInput, AssignSetResponse, Client, ReserveSetResponse } from "@harrier/rpc";
import { endUse, reserveAll } from "../catalogue/reserve-set.ts";
import { limitsOf } from "../quotas/limits.ts";
import { allowsSeveralAssignments } from "../settings/several-assignments.ts";
import { checkItems, distinctIds, newCommandId, toAssignment } from "./assignment.ts";
import { scopeOf } from "./scope.ts";
import { findTargets } from "./targets.sql.ts";
import type { Asker } from "./targets.ts";

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
export async function assignTargets(deps: Deps, asker: Asker, request: TargetsOfSetRequest): Promise<AssignSetResponse> {
  if (request.offline) {
    const controllerIds = distinctIds(request.items, await mostItems(deps, asker, request.items));
    return inOrder(request.items, await assignOffline(deps, asker, { setId: request.setId, controllerIds }));
  }
  const items = await check(deps, asker, request.items, () => allowsSeveral(deps, asker));
  if (items.length === 0) return nothing;
  return inOrder(items, await assign(deps, asker, { setId: request.setId, items: items.map((item) => toAssignment(item, item.id)) }));
}

/** Actions in the order of the request, as clients that count on places read them (contract management.md §4.1.2). */
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
 * Assigns sets to one target (spec 001 §4.2): one, or several that the device does by their weight, where the tenant allows it (contract
 * management.md §5.3). All or none: a set that may not be assigned refuses the others too.
 */
export async function assignSets(deps: Deps, asker: Asker, request: SetsOfTargetRequest): Promise<AssignSetResponse> {
  if (request.offline) return reportSet(deps, asker, request);
  let answer: Promise<boolean> | undefined;
  // The check asks too where a set is named twice, and one round trip is enough for both.
  const several = (): Promise<boolean> => {
    answer ??= allowsSeveral(deps, asker);
    return answer;
  };
  const items = await check(deps, asker, request.items, several);
  const { identity } = asker;
  if (items.length > 1) {
    if (!(await several())) throw new HarrierError("multiAssignmentNotEnabled");
    checkOpen(request.controllerId, items.length);
  }
  const target = await runOne(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), [request.controllerId]]);
  // unlike in a list of targets, where unknown ones are not counted (contract management.md §5.3)
  if (target === undefined) throw entityNotFound("Target", request.controllerId);
  const [item] = items;
  if (item === undefined) return nothing;
  if (items.length === 1) return assign(deps, asker, { setId: item.id, items: [toAssignment(item, request.controllerId)] });
  const setIds = [...new Set(items.map(({ id }) => id))];
  const command = {
    items: items.map((each) => ({ ...toAssignment(each, request.controllerId), setIndex: setIds.indexOf(each.id) })),
    initiator: identity.subject,
  };
  return withReservedSets(deps, asker, setIds, (sets) => deps.actions.assignSets({ ...command, sets }, asker.out(newCommandId("assign"))));
}

/** So many sets are not even reserved: no target may have so many open at once. */
function checkOpen(controllerId: string, n: number): void {
  if (n > mostOpenActions) throw quotaExceeded({ n, of: "Open Action", owner: `Target '${controllerId}'`, limit: mostOpenActions });
}

type Items = readonly (TargetAssignment | DistributionSetAssignment)[];

/** One item, which is what most requests have, is within every limit: only more need the round trip. */
async function mostItems(deps: Deps, asker: Asker, items: Items): Promise<number> {
  return items.length < 2 ? 0 : (await limitsOf(deps.db.pool, asker.identity.tenantId)).ASSIGNMENTS_PER_REQUEST_MAX_COUNT;
}

function allowsSeveral(deps: Deps, asker: Asker): Promise<boolean> {
  return allowsSeveralAssignments(deps.db.pool, asker.identity.tenantId);
}

async function check<T extends Items[number]>(deps: Deps, asker: Asker, items: readonly T[], several: () => Promise<boolean>) {
  const most = await mostItems(deps, asker, items);
  return checkItems(items, { now: deps.now(), most, several });
}

/** Of an offline assignment only the ids are looked at (contract management.md §5.5), and an unknown target is not an error. */
async function reportSet(deps: Deps, asker: Asker, { controllerId, items }: SetsOfTargetRequest): Promise<AssignSetResponse> {
  const [setId, second] = distinctIds(items, await mostItems(deps, asker, items));
  if (second !== undefined)
    throw new HarrierError("multiAssignmentNotEnabled", "A target runs one distribution set: only one can be reported.");
  return setId === undefined ? nothing : assignOffline(deps, asker, { setId, controllerIds: [controllerId] });
}

async function assignOffline(deps: Deps, asker: Asker, asked: { setId: number; controllerIds: string[] }): Promise<AssignSetResponse> {
  const { controllerIds, setId } = asked;
  if (controllerIds.length === 0) return nothing;
  const command = { controllerIds, initiator: asker.identity.subject };
  return withReservedSet(deps, asker, setId, (set) =>
    deps.actions.assignOffline({ ...command, set }, asker.out(newCommandId("assign-offline"))),
  );
}

async function assign(deps: Deps, asker: Asker, asked: { setId: number; items: AssignmentItemInput[] }): Promise<AssignSetResponse> {
  const command = { items: asked.items, initiator: asker.identity.subject };
  return withReservedSet(deps, asker, asked.setId, (set) => deps.actions.assignSet({ ...command, set }, asker.out(newCommandId("assign"))));
}

function withReservedSet<Answer>(deps: Deps, asker: Asker, setId: number, command: (set: ReserveSetResponse) => Promise<Answer>) {
  return withReservedSets(deps, asker, [setId], ([set]) => command(set as ReserveSetResponse));
}

/** Reserve first, then the command; the reservations keep the sets from being deleted under it. */
async function withReservedSets<Answer>(
  deps: Deps,
  { identity }: Asker,
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
    // where nobody knows whether it was carried out, the reservation stays until it ends by itself
    const unknown = error.code === "internal" || error.code === "unavailable" || error.code === "deadlineExceeded";
    if (!unknown) await endQuietly(deps, identity, setIds);
    throw error;
  }
}

/** The outcome stands already; a reservation that cannot be ended now ends by itself. */
async function endQuietly(deps: Deps, identity: Asker["identity"], setIds: readonly number[]): Promise<void> {
  await endUse(deps, identity, setIds).catch(() => undefined);
}
