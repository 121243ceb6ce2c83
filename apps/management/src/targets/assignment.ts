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

/** Stored where none is given (contract management.md §5.7). */
const defaultWeight = 1_000;
/** Latest moment that JavaScript and PostgreSQL can both express, epoch ms. */
const latestTime = 8_640_000_000_000_000;

type Item = TargetAssignment | DistributionSetAssignment;

/** An item whose window is read. */
export type CheckedItem<T extends Item = Item> = Omit<T, "maintenanceWindow"> & { window: MaintenanceWindow | undefined };

/**
 * Checks 1, 2 and 4 of an assignment (contract management.md §5.3): windows must be windows, identical items collapse, and there are not more
 * than `most`. Whether two different ones for one target may be, which is check 3, `several` asks the tenant: only then, for it costs a round trip.
 * `id` is what differs between the items: the target, or the set.
 */
export async function checkItems<T extends Item>(
  items: readonly T[],
  { now, most, several }: { now: number; most: number; several: () => Promise<boolean> },
): Promise<CheckedItem<T>[]> {
  const distinct = new Map<string, CheckedItem<T>>();
  for (const { maintenanceWindow, ...item } of items) {
    const checked = { ...item, window: upcomingMaintenanceWindow(maintenanceWindow, now) };
    distinct.set(JSON.stringify(fingerprint(checked)), checked);
  }
  const collapsed = [...distinct.values()];
  const ids = new Set(collapsed.map((item) => item.id));
  if (ids.size < collapsed.length && !(await several())) throw new HarrierError("multiAssignmentNotEnabled");
  checkCount(collapsed.length, most);
  return collapsed;
}

/** What an offline assignment looks at (contract management.md §5.5): every id once, and not too many of them. */
export function distinctIds<Id>(items: readonly { id: Id }[], most: number): Id[] {
  const ids = [...new Set(items.map(({ id }) => id))];
  checkCount(ids.length, most);
  return ids;
}

function checkCount(n: number, most: number): void {
  if (isOver(most, n)) {
    throw new HarrierError("quotaTooManyEntries", `Quota exceeded: Cannot assign ${n} entities at once. The maximum is ${most}.`);
  }
}

/** What an item asks of controller, for one target. */
export function toAssignment(item: CheckedItem, controllerId: string): AssignmentItemInput {
  return {
    controllerId,
    forceType: item.type,
    forceTime: forceTimeOf(item),
    weight: item.weight ?? defaultWeight,
    ...(item.window === undefined ? {} : { maintenanceWindow: item.window }),
    ...(item.confirmationRequired === undefined ? {} : { confirmationRequired: item.confirmationRequired }),
  };
}

/** Only kept for timeforced; clients send Long.MAX_VALUE for "never", which no timestamp holds. */
const forceTimeOf = (item: Pick<Item, "type" | "forcetime">): number =>
  item.type === "timeforced" ? Math.min(Math.max(item.forcetime, 0), latestTime) : 0;

const fingerprint = (item: CheckedItem): unknown[] => [
  item.id,
  item.type,
  forceTimeOf(item),
  item.weight ?? defaultWeight,
  item.window,
  // required where nothing is said
  item.confirmationRequired ?? true,
];

/**
 * Id of one command: new for every request, kept over the repetitions that the client of a service makes by itself. Not made from the
 * request's own id, which callers choose: who sends the same one twice means two requests.
 */
export function newCommandId(operation: string): string {
  return `${operation}:${randomUUID()}`;
}
