import type { RolloutCreate } from "@harrier/contracts";
import { plannedShares } from "./check-create.ts";
import type { NewGroup } from "./create.sql.ts";

/** A group that is planned and has no id yet. */
export type PlannedGroup = Omit<NewGroup, "id" | "position">;
type Conditions = Pick<RolloutCreate, "successCondition" | "successAction" | "errorCondition" | "errorAction">;

/** Half of a group is the default threshold (contract rollouts.md §2.1). */
const half = { condition: "THRESHOLD", expression: "50" } as const;

/** It is more than any tenant has, because the ids of targets end there. */
const maxTargets = 2 ** 31 - 1;

/** Plans the groups: what a group leaves open comes from the rollout, and otherwise from the defaults (contract rollouts.md §2.2, §3.1). */
export function plannedGroups(body: RolloutCreate, consentFlow: boolean): PlannedGroup[] {
  const planned = plannedShares(body).map((share, index) => {
    const own = body.groups?.[index];
    const name = own?.name ?? `group-${index + 1}`;
    return {
      name,
      description: own ? (own.description ?? null) : name,
      filter: share.filter,
      percentage: share.percentage,
      targetCount: null,
      confirmationRequired: own?.confirmationRequired ?? body.confirmationRequired ?? consentFlow,
      ...conditionsOf(own ?? {}, body),
    };
  });
  const template = body.dynamicGroupTemplate;
  if (!template) return planned;
  const name = `group-${planned.length + 1}${template.nameSuffix}`;
  const confirmationRequired = body.confirmationRequired ?? consentFlow;
  const targetCount = Math.min(template.targetCount, maxTargets);
  return [...planned, { name, description: name, filter: "", percentage: 0, targetCount, confirmationRequired, ...conditionsOf({}, body) }];
}

function conditionsOf(own: Partial<Conditions>, rollout: Conditions) {
  const success = own.successCondition ?? rollout.successCondition ?? half;
  const error = own.errorCondition ?? rollout.errorCondition ?? half;
  const onSuccess = own.successAction ?? rollout.successAction;
  const onError = own.errorAction ?? rollout.errorAction;
  return {
    successCondition: success.condition,
    successExpression: success.expression,
    successAction: onSuccess?.action ?? "NEXTGROUP",
    successActionExpression: onSuccess?.expression ?? "",
    errorCondition: error.condition,
    errorExpression: error.expression,
    errorAction: onError?.action ?? "PAUSE",
    errorActionExpression: onError?.expression ?? "",
  };
}
