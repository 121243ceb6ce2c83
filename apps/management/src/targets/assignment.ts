import { randomUUID } from "node:crypto";
import {
  type DistributionSetAssignment,
  isOver,
  type MaintenanceWindow,
  type TargetAssignment,
  upcomingMaintenanceWindow,
} from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { AssignmentItemInput } from "@harrier/rpc";

/** This type is stored where none is given (contract management.md §5.7). */
const defaultWeight = 1_000;
/** This is the latest moment that both JavaScript and PostgreSQL can express, in epoch ms. */
const latestTime = 8_640_000_000_000_000;

type Item = TargetAssignment | DistributionSetAssignment;

/** This is an item whose window has been parsed, with its place in the request. */
export type CheckedItem<T extends Item = Item> = Omit<T, "maintenanceWindow"> & { window: MaintenanceWindow | undefined; place: number };

/**
 * Runs checks 1, 2 and 4 of an assignment (contract management.md §5.3): windows must be valid, identical items count once, and there are
 * at most `max` items. Check 3, whether one target may get two different items, costs a round trip (`several`), and is therefore only made
 * when needed. `id` is what differs between the items: the target, or the set.
 */
export async function checkItems<T extends Item>(
  items: readonly T[],
  { now, max, several }: { now: number; max: number; several: () => Promise<boolean> },
): Promise<CheckedItem<T>[]> {
  const distinct = new Map<string, CheckedItem<T>>();
  for (const [place, { maintenanceWindow, ...item }] of items.entries()) {
    const checked = { ...item, place, window: upcomingMaintenanceWindow(maintenanceWindow, now) };
    distinct.set(JSON.stringify(fingerprint(checked)), checked);
  }
  const collapsed = [...distinct.values()];
  const ids = new Set(collapsed.map((item) => item.id));
  if (ids.size < collapsed.length && !(await several())) throw new HarrierError("multiAssignmentNotEnabled");
  checkCount(collapsed.length, max);
  return collapsed;
}

/** Returns what counts of an offline assignment (contract management.md §5.5): every id once, within the limit. */
export function distinctIds<Id>(items: readonly { id: Id }[], max: number): Id[] {
  const ids = [...new Set(items.map(({ id }) => id))];
  checkCount(ids.length, max);
  return ids;
}

function checkCount(n: number, max: number): void {
  if (isOver(max, n)) {
    throw new HarrierError("quotaTooManyEntries", `Quota exceeded: Cannot assign ${n} entities at once. The maximum is ${max}.`);
  }
}

/** Returns what an item asks of controller, for one target; `safetyIndex` is the place of its policy in the command. */
export function toAssignment(item: CheckedItem, controllerId: string, safetyIndex?: number): AssignmentItemInput {
  return {
    controllerId,
    forceType: item.type,
    forceTime: forceTimeOf(item),
    weight: item.weight ?? defaultWeight,
    ...(item.window === undefined ? {} : { maintenanceWindow: item.window }),
    ...(item.confirmationRequired === undefined ? {} : { confirmationRequired: item.confirmationRequired }),
    ...(safetyIndex === undefined ? {} : { safetyIndex }),
  };
}

/** The time is only kept for timeforced; clients send Long.MAX_VALUE for "never", which no timestamp can hold. */
const forceTimeOf = (item: Pick<Item, "type" | "forcetime">): number =>
  item.type === "timeforced" ? Math.min(Math.max(item.forcetime, 0), latestTime) : 0;

const fingerprint = (item: CheckedItem): unknown[] => [
  item.id,
  item.type,
  forceTimeOf(item),
  item.weight ?? defaultWeight,
  item.window,
  // Confirmation is required where the request does not say.
  item.confirmationRequired ?? true,
  item.safety,
];

/**
 * Returns the id of a command. It is new for every request and the same when our client repeats the call. It is not derived from the id of
 * the request, which callers choose: one who sends the same id twice means two requests.
 */
export function newCommandId(operation: string): string {
  return `${operation}:${randomUUID()}`;
}
