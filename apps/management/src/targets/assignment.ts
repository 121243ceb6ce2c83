import { randomUUID } from "node:crypto";
import type { DistributionSetAssignment, TargetAssignment } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { AssignmentItemInput } from "@harrier/rpc";

/** Contract management.md §9, maxTargetDistributionSetAssignmentsPerManualAssignment. */
const mostItems = 5_000;
/** Stored where none is given (contract management.md §5.7). */
const defaultWeight = 1_000;
/** Latest moment that JavaScript and PostgreSQL can both express, epoch ms. */
const latestTime = 8_640_000_000_000_000;

type Item = TargetAssignment | DistributionSetAssignment;

/**
 * Checks 1 to 4 of an assignment (contract management.md §5.3): identical items collapse, two different ones for one target are
 * refused, and so are too many. `id` is what differs between the items: the target, or the set.
 */
export function collapseItems<T extends Item>(items: readonly T[]): T[] {
  for (const item of items) refuseUnsupported(item);
  const distinct = new Map<string, T>();
  for (const item of items) distinct.set(JSON.stringify(fingerprint(item)), item);
  const collapsed = [...distinct.values()];
  if (new Set(collapsed.map((item) => item.id)).size < collapsed.length) throw new HarrierError("multiAssignmentNotEnabled");
  if (collapsed.length > mostItems) throw new HarrierError("quotaTooManyEntries", `A request assigns ${mostItems} times at most.`);
  return collapsed;
}

/** What an item asks of controller, for one target. */
export function toAssignment(item: Item, controllerId: string): AssignmentItemInput {
  return {
    controllerId,
    forceType: item.type,
    forceTime: forceTimeOf(item),
    weight: item.weight ?? defaultWeight,
  };
}

/** Only kept for timeforced; clients send Long.MAX_VALUE for "never", which no timestamp holds. */
const forceTimeOf = (item: Item): number => (item.type === "timeforced" ? Math.min(Math.max(item.forcetime, 0), latestTime) : 0);

const fingerprint = (item: Item): unknown[] => [item.id, item.type, forceTimeOf(item), item.weight ?? defaultWeight];

/** A window that is not kept would let a device install at the wrong time: refused rather than ignored. */
function refuseUnsupported(item: Item): void {
  const { schedule, duration, timezone } = item.maintenanceWindow ?? {};
  if (schedule !== undefined || duration !== undefined || timezone !== undefined) {
    throw new HarrierError("maintenanceScheduleInvalid", "Maintenance windows are not available on this server.");
  }
}

/**
 * Id of one command: new for every request, kept over the repetitions that the client of a service makes by itself. Not made from the
 * request's own id, which callers choose: who sends the same one twice means two requests.
 */
export function newCommandId(operation: string): string {
  return `${operation}:${randomUUID()}`;
}
