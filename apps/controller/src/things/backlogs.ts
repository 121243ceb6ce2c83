import type { Tenant } from "./behind.ts";
import type { Composed } from "./compose.ts";
import type { Found } from "./outbox-page.ts";
import type { Backlog, Place, Position } from "./outgoing.sql.ts";

/** So many tenants have a place of their own; the messages of more would be read with those of all others. */
export const maxBacklogs = 100;
/** So many of them are read in a call, one after the other. */
const maxServed = 8;

/** Whether all is read up to what was seen: nothing of a snapshot is left. */
export const isDone = ({ upTo }: Place): boolean => upTo === undefined;

/** The backlogs of a position, but for those of tenants that get no messages now: their things are told again when they do (behind.ts). */
export function backlogsOf({ backlogs = [] }: Position, tenants: readonly Tenant[]): readonly Backlog[] {
  const active = new Set(tenants.map(({ tenantId }) => tenantId));
  return backlogs.filter(({ tenantId }) => active.has(tenantId));
}

/** What was seen of a tenant: what its messages say is true of it, and nothing newer. */
export function seenOf({ seen, backlogs = [] }: Position, tenantId: number): string | undefined {
  return backlogs.find((backlog) => backlog.tenantId === tenantId)?.seen ?? seen;
}

/**
 * Where all tenants without a backlog end, and the tenants that are left: those of which more triggers or bytes were found than their part. Triggers
 * behind the one at which all end are read again, so that a tenant that is left behind it is not.
 */
export function leave({ placed, end, left }: Found, { stop, left: leftByBytes }: Composed): { end: Place; added: Backlog[] } {
  const stopped = stop === undefined ? undefined : placed[stop]?.at;
  const byBytes = [...leftByBytes].flatMap(([tenantId, n]) => (placed[n] === undefined ? [] : [{ tenantId, ...placed[n].at }]));
  const byCount = [...left].flatMap(([tenantId, { at, after }]) =>
    leftByBytes.has(tenantId) || after > (stop ?? placed.length) ? [] : [{ tenantId, ...at }],
  );
  return { end: stopped ?? end, added: [...byBytes, ...byCount] };
}

/**
 * The backlogs that are read next, with the snapshot up to which they are: what all others have seen. One that has seen as much, or the snapshot that
 * the others are reading, has nothing more.
 */
export function toServe(backlogs: readonly Backlog[], others: Place): readonly Backlog[] {
  const { seen } = others;
  if (seen === undefined) return [];
  return backlogs
    .filter((backlog) => !isDone(backlog) || !isCaughtUp(backlog, others))
    .slice(0, maxServed)
    .map((backlog) => ({ ...backlog, upTo: backlog.upTo ?? seen }));
}

const isCaughtUp = ({ seen }: Place, others: Place): boolean => seen === others.seen || seen === others.upTo;

/** A backlog that was read, and whether there was no room for its first message. */
export type Served = Backlog & { readonly hasWaited: boolean };

interface Change {
  readonly before: readonly Backlog[];
  readonly served: readonly Served[];
  readonly added: readonly Backlog[];
}

/**
 * The backlogs that are left, in the order in which they are read next: one that there was no room for is first, and one that had its part is last. Those
 * that have seen what all others have, which have ended, are none.
 */
export function backlogsAfter({ before, served, added }: Change, others: Place): readonly Backlog[] {
  const wereServed = new Set(served.map(({ tenantId }) => tenantId));
  const ends = (waited: boolean): Backlog[] =>
    served.filter(({ hasWaited }) => hasWaited === waited).map(({ hasWaited: _, ...backlog }) => backlog);
  const all = [...ends(true), ...before.filter(({ tenantId }) => !wereServed.has(tenantId)), ...ends(false), ...added];
  return isDone(others) ? all.filter((backlog) => !isDone(backlog) || backlog.seen !== others.seen) : all;
}
