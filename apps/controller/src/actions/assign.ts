import { forceType } from "@harrier/contracts";
import { type Database, type IdBlocks, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { AssignSetRequest, AssignSetResponse, CallContext } from "@harrier/rpc";
import { scopeOf } from "../targets/targets.ts";
import { type AssignAnswer, assignSet as write } from "./assign.sql.ts";
import { forceTimeOf, forceTypeOf } from "./force.ts";

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  fault: (name: string) => unknown;
}

/** Actions that one target may have (contract management.md §9). */
const maxActionsPerTarget = 2_000;

/**
 * Gives one reserved set to many targets in one statement (contract management.md §5.3): all checks first, then superseding, actions,
 * state, history and events together. A repeated command answers with the first one's actions.
 */
export async function assignSet(deps: Deps, request: AssignSetRequest, ctx: CallContext): Promise<AssignSetResponse> {
  const { set, items } = request;
  if (set === null) throw new HarrierError("internal", "assignSet without a set");
  if (items.length === 0) return { alreadyAssigned: 0, actions: [] };
  const { tenantId, tenant } = ctx.principal;
  const row = await runOne(deps.db.pool, write, [
    tenantId,
    tenant,
    ctx.commandId ?? "",
    set.id,
    set.name,
    set.version,
    set.typeId,
    set.migrationStep,
    items.map((i) => i.controllerId),
    items.map((i) => forceType[forceTypeOf(i.forceType)]),
    items.map((i) => forceTimeOf(i.forceType, i.forceTime)),
    items.map((i) => i.weight),
    await deps.ids.take(tenantId, "action", items.length),
    maxActionsPerTarget,
    scopeOf(ctx, "UPDATE_TARGET"),
    request.initiator,
    ctx.traceparent ?? null,
  ]);
  await deps.fault("controller.assign.after-commit");
  return toResponse(row?.answer);
}

function toResponse(answer: AssignAnswer | undefined): AssignSetResponse {
  switch (answer?.outcome) {
    case "ok":
      return { alreadyAssigned: answer.already ?? 0, actions: answer.actions ?? [] };
    case "incompatible":
      throw new HarrierError("targetTypeIncompatible", "A target has a type that is not compatible with the distribution set's type.");
    case "quota":
      throw new HarrierError(
        "quotaTooManyEntries",
        `Quota exceeded: Cannot assign 1 more Action entities to Target '${answer.controllerId}'. The maximum is ${maxActionsPerTarget}.`,
      );
    default:
      throw new HarrierError("internal");
  }
}
