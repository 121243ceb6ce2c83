import { statement } from "@harrier/db";
import type { Scope } from "@harrier/query";

/**
 * Selects rollouts `t` whose targets are all of the types in a placeholder; null selects any. Before the freeze the restriction of the rollout's
 * creator counts.
 */
export const reachesOnly = (placeholder: string): string =>
  `(${placeholder}::bigint[] is null or coalesce(coalesce(t.reached_types, t.target_types) <@ ${placeholder}::bigint[], false))`;

export const findReach = statement<
  [tenantId: number, rolloutId: number, visible: Scope, reachable: Scope],
  { visible: boolean; reachable: boolean }
>(
  "rollouts.find_reach",
  `select ${reachesOnly("$3")} as visible, ${reachesOnly("$4")} as reachable from rollouts t where t.tenant_id = $1 and t.id = $2`,
);
