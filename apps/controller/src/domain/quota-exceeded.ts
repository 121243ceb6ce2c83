import { type HarrierError, quotaExceeded } from "@harrier/errors";

/** The error of an action whose history is full (contract device.md §8). */
export function tooManyEntries(actionId: number, limit: number): HarrierError {
  return quotaExceeded({ n: 1, of: "ActionStatus", owner: `Action '${actionId}'`, limit });
}

/** The error of an entry with too many messages. */
export function tooManyMessages(n: number, limit: number): HarrierError {
  return quotaExceeded({ n, of: "Message", owner: "ActionStatus '<new>'", limit });
}

/** The error of a target that has as many actions as it may have. */
export function tooManyActions(controllerId: string, limit: number): HarrierError {
  return quotaExceeded({ n: 1, of: "Action", owner: `Target '${controllerId}'`, limit });
}

/** The error of a target that has as many open actions side by side as it may have. */
export function tooManyOpenActions(controllerId: string, limit: number): HarrierError {
  return quotaExceeded({ n: 1, of: "Open Action", owner: `Target '${controllerId}'`, limit });
}

/** The error of a target that would have too many attributes. */
export function tooManyAttributes(controllerId: string, n: number, limit: number): HarrierError {
  return quotaExceeded({ n, of: "Attribute", owner: `Target '${controllerId}'`, limit });
}

/** The error of a target that would have too much metadata. */
export function tooMuchMetadata(controllerId: string, n: number, limit: number): HarrierError {
  return quotaExceeded({ n, of: "Metadata", owner: `Target '${controllerId}'`, limit });
}

/** The error of a tenant that would have too many targets, by a registration too (contract device.md §3.2). */
export function tooManyTargets(tenant: string, n: number, limit: number): HarrierError {
  return quotaExceeded({ n, of: "Target", owner: `Tenant '${tenant}'`, limit });
}
