import { lacksPermission } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import type { FilterRow } from "./filters.sql.ts";

/**
 * A user who is restricted to target types must not decide what targets of other types get. They may only read an auto-assignment that reaches
 * further than they do (spec 001 §2.8, targetTypeScopes). Everybody may edit a filter that assigns nothing, because it is only a text.
 */
export function checkReach(
  principal: Pick<Principal, "targetTypeScopes">,
  { setId, targetTypes }: Pick<FilterRow, "setId" | "targetTypes">,
  permissions: readonly string[],
): void {
  const scope = scopeOf(principal, ...permissions);
  if (scope === null || setId === null) return;
  if (targetTypes === null || targetTypes.some((type) => !scope.includes(type))) throw lacksPermission(permissions, "restricted");
}
