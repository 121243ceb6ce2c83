import { forceTypeNames, type RolloutCreate } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { OutCall } from "@harrier/rpc";
import { defaultWeight } from "../domain/limits.ts";
import { parseOwnFilter } from "../matching/matching.ts";
import { type CreateDeps, createRollout } from "./create-rollout.ts";
import { findFinished } from "./retry-rollout.sql.ts";

const longestName = 128;

/**
 * Creates a rollout of the same set for the targets that another one has failed on, in one group (contract rollouts.md §4.8). It is created like
 * any other: its caller may reach the targets, approval and quotas apply, and its name is taken once. Answers its id.
 */
export async function retryRollout(deps: CreateDeps, id: number, call: OutCall): Promise<number> {
  const old = await runOne(deps.db.pool, findFinished, [call.principal.tenantId, id]);
  if (!old) throw entityNotFound("Rollout", id);
  if (old.status !== "finished")
    throw new HarrierError("constraintViolation", `Only a rollout that has finished can be retried; this one is ${old.status}.`);
  const name = `${old.name}_retry`;
  if (name.length > longestName)
    throw new HarrierError("constraintViolation", `The name ${name} of the retry would be longer than ${longestName} characters.`);
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
    // the devices' users have been asked once
    confirmationRequired: false,
    successCondition: { condition: "THRESHOLD", expression: old.successExpression },
    successAction: { action: old.successAction, expression: old.successActionExpression },
    errorCondition: { condition: "THRESHOLD", expression: old.errorExpression },
    errorAction: { action: "PAUSE", expression: old.errorActionExpression },
  };
  return createRollout(deps, body, call, { rollout: parseOwnFilter(targetFilterQuery), texts: [], groups: [] });
}
