import { forceTypeNames, type RolloutCreate } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { parseOwnFilter } from "../matching/matching.ts";
import { type CreateDeps, createRollout } from "./create-rollout.ts";
import { findFinished } from "./retry-rollout.sql.ts";

/** A rollout's actions have this weight when none is given (contract rollouts.md §2.1). */
const defaultWeight = 1000;

const maxNameLength = 128;

/**
 * Creates a rollout of the same set, in one group, for the targets on which another rollout has failed (contract rollouts.md §4.8). It is created
 * like any other: its caller must reach the targets, approval and quotas apply, and its name must be free. Its
 * safety policy is that of the earlier rollout. Answers its id.
 */
export async function retryRollout(deps: CreateDeps, id: number, call: OutCall): Promise<number> {
  const old = await runOne(deps.db.pool, findFinished, [call.principal.tenantId, id]);
  if (!old) throw entityNotFound("Rollout", id);
  if (old.status !== "finished")
    throw new HarrierError("constraintViolation", `Only a rollout that has finished can be retried; this one is ${old.status}.`);
  const name = `${old.name}_retry`;
  if (name.length > maxNameLength)
    throw new HarrierError("constraintViolation", `The name ${name} of the retry would be longer than ${maxNameLength} characters.`);
  const targetFilterQuery = `failedrollout==${id}`;
  const body: RolloutCreate = {
    name,
    description: old.description ?? undefined,
    targetFilterQuery,
    distributionSetId: old.setId,
    type: forceTypeNames[old.forceType] ?? "forced",
    forcetime: old.forceTime,
    weight: defaultWeight,
    maintenanceWindow: old.maintenanceWindow ?? undefined,
    amountGroups: 1,
    dynamic: false,
    // the devices' users have already been asked
    confirmationRequired: false,
    successCondition: { condition: "THRESHOLD", expression: old.successExpression },
    successAction: { action: old.successAction, expression: old.successActionExpression },
    errorCondition: { condition: "THRESHOLD", expression: old.errorExpression },
    errorAction: { action: "PAUSE", expression: old.errorActionExpression },
  };
  const filters = { rollout: parseOwnFilter(targetFilterQuery), texts: [], groups: [] };
  return createRollout(deps, body, call, { filters, frozen: old.safety });
}
