import type { DistributionSetAssignment, TargetAssignment } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, toHarrierError } from "@harrier/errors";
import type { AssignmentItemInput, AssignSetResponse, Client } from "@harrier/rpc";
import { endUse, reserve } from "../catalogue/reserve-set.ts";
import { collapseItems, newCommandId, toAssignment } from "./assignment.ts";
import { scopeOf } from "./scope.ts";
import { findTargets } from "./targets.sql.ts";
import type { Asker } from "./targets.ts";

interface Deps {
  db: Database;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "assignSet">;
}

const nothing: AssignSetResponse = { alreadyAssigned: 0, actions: [] };

export interface TargetsOfSetRequest {
  setId: number;
  items: readonly TargetAssignment[];
  offline: boolean;
}

/** Assigns one set to many targets (spec 001 §4.1); unknown targets are not counted. */
export async function assignTargets(deps: Deps, asker: Asker, request: TargetsOfSetRequest): Promise<AssignSetResponse> {
  refuseOffline(request.offline);
  const items = collapseItems(request.items);
  if (items.length === 0) return nothing;
  return assign(deps, asker, { setId: request.setId, items: items.map((item) => toAssignment(item, item.id)) });
}

export interface SetsOfTargetRequest {
  controllerId: string;
  items: readonly DistributionSetAssignment[];
  offline: boolean;
}

/** Assigns a set to one target (spec 001 §4.2). Two sets would need several assignments per target, which do not exist. */
export async function assignSets(deps: Deps, asker: Asker, request: SetsOfTargetRequest): Promise<AssignSetResponse> {
  refuseOffline(request.offline);
  const [item, second] = collapseItems(request.items);
  if (second !== undefined) throw new HarrierError("multiAssignmentNotEnabled");
  const { identity } = asker;
  const target = await runOne(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), [request.controllerId]]);
  // unlike in a list of targets, where unknown ones are not counted (contract management.md §5.3)
  if (target === undefined) throw entityNotFound("Target", request.controllerId);
  if (item === undefined) return nothing;
  return assign(deps, asker, { setId: item.id, items: [toAssignment(item, request.controllerId)] });
}

/** Reserve first, then the command; the reservation keeps the set from being deleted under it. */
async function assign(deps: Deps, asker: Asker, asked: { setId: number; items: AssignmentItemInput[] }): Promise<AssignSetResponse> {
  const { identity } = asker;
  const set = await reserve(deps, identity, asked.setId);
  const commandId = newCommandId("assign");
  try {
    const answer = await deps.actions.assignSet({ set, items: asked.items, initiator: identity.subject }, asker.out(commandId));
    await endQuietly(deps, identity, asked.setId);
    return answer;
  } catch (thrown) {
    const error = toHarrierError(thrown);
    // where nobody knows whether it was carried out, the reservation stays until it ends by itself
    const unknown = error.code === "internal" || error.code === "unavailable" || error.code === "deadlineExceeded";
    if (!unknown) await endQuietly(deps, identity, asked.setId);
    throw error;
  }
}

/** The outcome stands already; a reservation that cannot be ended now ends by itself. */
async function endQuietly(deps: Deps, identity: Asker["identity"], setId: number): Promise<void> {
  await endUse(deps, identity, setId).catch(() => undefined);
}

/** An assignment that is only reported must not become one that is carried out: refused rather than ignored. */
function refuseOffline(offline: boolean): void {
  if (offline) throw new HarrierError("constraintViolation", "Offline assignment is not available on this server.");
}
