import { type Scope, type Scoped, scopeOf } from "@harrier/query";

/** Answers the types of targets that the principal sees. */
export function visibleTypes(principal: Scoped): Scope {
  return scopeOf(principal, "READ_TARGET");
}

/** Answers the types of targets that the principal's rollouts may reach: those that it may both see and change. */
export function reachableTypes(principal: Scoped): Scope {
  return scopeOf(principal, "READ_TARGET", "UPDATE_TARGET", "CREATE_ROLLOUT");
}
