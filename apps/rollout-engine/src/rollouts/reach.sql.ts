import { statement } from "@harrier/db";
import { reachesOnly, type Scope } from "@harrier/query";

/**
 * Selects rollouts `t` whose targets are all of the types in a placeholder; null selects any. Before the freeze the restriction of the rollout's
 * creator counts.
 */
export const isWithin = (placeholder: string): string => reachesOnly("coalesce(t.reached_types, t.target_types)", placeholder);

export const findReach = statement<
  [tenantId: number, rolloutId: number, visible: Scope, reachable: Scope],
  { visible: boolean; reachable: boolean }
>(
  "rollout_engine.find_reach",
  `select ${isWithin("$3")} as visible, ${isWithin("$4")} as reachable from rollouts t where t.tenant_id = $1 and t.id = $2`,
);
