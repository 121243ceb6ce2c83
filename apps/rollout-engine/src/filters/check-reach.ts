import { lacksPermission } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { scopeOf } from "../matching/scope.ts";
import type { FilterRow } from "./filters.sql.ts";

/**
 * Whoever is restricted to target types must not decide what targets of other types get: an auto-assignment that reaches further than they
 * do is theirs to read alone (spec 001 §2.8, targetTypeScopes). A filter that assigns nothing is a text that everybody may edit.
 */
export function checkReach(
  principal: Pick<Principal, "targetTypeScopes">,
  { setId, targetTypes }: Pick<FilterRow, "setId" | "targetTypes">,
  permissions: readonly string[],
): void {
  const scope = scopeOf(principal, permissions);
  if (scope === null || setId === null) return;
  if (targetTypes === null || targetTypes.some((type) => !scope.includes(type))) throw lacksPermission(permissions, "restricted");
}
