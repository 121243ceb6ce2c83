import { actionStatus } from "@harrier/contracts";
import type { OutgoingRow } from "./outgoing.sql.ts";

/**
 * Something that happened and of which a thing is told:
 * - `action`: what it shall do has changed, or is to be sent again;
 * - `window`: it has reported of an action, and is sent it again where a maintenance window has opened meanwhile;
 * - `attributes`: it shall send its attributes;
 * - `deleted`: it is gone, with the address that it had.
 */
export interface Trigger {
  readonly tenantId: number;
  readonly controllerId: string;
  readonly what: "action" | "window" | "attributes" | "deleted";
  readonly address?: string;
  /** It has been confirmed: what it shall do follows by a message of its own, also where batches are on. */
  readonly confirmed?: true;
}

/** The triggers in a row of the outbox, in the order of its items; `item` is the place in it, for the position. */
export function triggersOf({ tenantId, topic, type, common, items }: OutgoingRow): readonly (readonly Trigger[])[] {
  if (topic === "action-events") return items.map((item) => ofAction(tenantId, item));
  if (type === "feed.things-deleted") {
    return ((common["things"] ?? []) as [string, string][]).map(([controllerId, address]) => [
      { tenantId, controllerId, what: "deleted", address },
    ]);
  }
  if (type === "feed.things") {
    const { things, what } = common as { things: readonly string[]; what: "action" | "attributes" };
    return things.map((controllerId) => [{ tenantId, controllerId, what }]);
  }
  const { controllerId, what } = common as { controllerId: string; what: "action" | "attributes" };
  return [[{ tenantId, controllerId, what }]];
}

const { RUNNING, WAIT_FOR_CONFIRMATION, CANCELING, FINISHED, DOWNLOADED, RETRIEVED } = actionStatus;

/** An item is [actionId, controllerId, sequence, previousStatus, status, active, …] (packages/events/src/expand.ts). */
function ofAction(tenantId: number, [, id, , previous, status, active]: readonly unknown[]): Trigger[] {
  const of = (what: Trigger["what"]): Trigger => ({ tenantId, controllerId: String(id), what });
  if (previous === status || status === RETRIEVED) return active === true ? [of("window")] : [];
  if (active !== true) {
    if (previous === null) return [];
    return status === FINISHED || status === DOWNLOADED ? [of("attributes"), of("action")] : [of("action")];
  }
  // A thing that has refused a cancellation goes on with what it does.
  const told = status === WAIT_FOR_CONFIRMATION || status === CANCELING || (status === RUNNING && previous !== CANCELING);
  if (!told) return [];
  return status === RUNNING && previous === WAIT_FOR_CONFIRMATION ? [{ ...of("action"), confirmed: true }] : [of("action")];
}
