import { run, runOne } from "@harrier/db";
import type { ReadDeviceMessagesRequest, ReadDeviceMessagesResponseInput } from "@harrier/rpc";
import { backlogsAfter, backlogsOf, isDone, leave, maxBacklogs, type Served, toServe } from "./backlogs.ts";
import { catchUp, type Tenant, withBehind } from "./behind.ts";
import { type ComposeDeps, type Composed, compose } from "./compose.ts";
import { type Found, placeOf, readTriggers, type Source } from "./outbox-page.ts";
import { type Backlog, type Place, type Position, takeLease } from "./outgoing.sql.ts";
import { readMessagingTenants } from "./things.sql.ts";

export type OutgoingDeps = ComposeDeps;

/** A replica that does not come back for so long has lost the lease; it does not publish any more before that (apps/dmf). */
const leaseSeconds = 15;
/** A call takes so many triggers of tenants without a backlog, and of those with one what is left of it, but so many at least. */
const maxTriggers = 250;
const minBacklogTriggers = 125;
/**
 * An answer has so many bytes of bodies, but one message of tenants without a backlog and one of those with one at least: with the largest ones it is
 * below what gRPC takes (packages/rpc). All wait for each answer's messages, so that a few large ones in each would take all of them long.
 */
const maxBytes = 6_000_000;
/** A tenant that has more than this in a page gets the rest from a place of its own, a backlog, if there are others that would wait for it. */
const part = { triggers: 100, bytes: 2_000_000 };

/**
 * Answers what has to be sent to things next, for each tenant in the order of the changes. The outbox says who is to be told; what it is told is what is
 * true now, so that a message that was late is not wrong. Several triggers of one thing in a call become one message. The position moves when its
 * messages are confirmed, so that none is lost, and one may be sent twice.
 */
export async function readDeviceMessages(
  deps: OutgoingDeps,
  { holder, confirmed, baseUrl, dropped, connected, full, resting }: ReadDeviceMessagesRequest,
): Promise<ReadDeviceMessagesResponseInput> {
  const lease = await runOne(deps.db.pool, takeLease, [
    holder,
    confirmed === "" ? null : withBehind(confirmed, { dropped, full }, deps.now()),
    leaseSeconds,
  ]);
  if (lease === undefined) return { leading: false, messages: [], position: "", more: false };
  const { position } = lease;
  const tenants = await run(deps.db.pool, readMessagingTenants, []);
  const kept = await catchUp(deps, { holder, position, tenants, connected, resting });
  const work = { tenants, baseUrl };
  const before = backlogsOf(position, tenants);
  const first = await readOthers(deps, { ...work, from: position, backlogs: before });
  const served = toServe(before, first.end);
  const second = await readBacklogs(deps, { ...work, first, served });
  const backlogs = backlogsAfter({ before, served: second.ends, added: first.added }, first.end);
  const next: Position = {
    ...first.end,
    ...kept,
    backlogs,
    ...(first.end.seen === undefined ? {} : { from: position.seen ?? first.end.seen }),
    backlogsFrom: Object.fromEntries(served.flatMap(({ tenantId, seen }) => (seen === undefined ? [] : [[String(tenantId), seen]]))),
  };
  return {
    leading: true,
    messages: [...first.messages, ...second.messages],
    position: JSON.stringify(next),
    more: !isDone(first.end) || backlogs.length > 0,
  };
}

interface Work {
  readonly tenants: readonly Tenant[];
  readonly baseUrl: string;
}

interface Others extends Pick<Composed, "messages" | "bytes"> {
  readonly triggers: number;
  readonly end: Place;
  /** Tenants that have a backlog from now on. */
  readonly added: readonly Backlog[];
}

/** Reads the messages of all tenants that have no backlog. */
async function readOthers(
  deps: OutgoingDeps,
  { from, backlogs, tenants, baseUrl }: Work & { from: Position; backlogs: readonly Backlog[] },
): Promise<Others> {
  const withBacklog = new Set(backlogs.map(({ tenantId }) => tenantId));
  const others = tenants.map(({ tenantId }) => tenantId).filter((id) => !withBacklog.has(id));
  const maxLeft = tenants.length > 1 ? maxBacklogs - backlogs.length : 0;
  const sources = [placeOf(from)];
  const [found] = await readTriggers(deps.db, { sources, others, maxTriggers, maxOfTenant: part.triggers, maxLeft });
  if (found === undefined) throw new Error("a place was read and nothing was answered of it");
  const { placed } = found;
  const composed = await compose(deps, {
    placed,
    tenants,
    baseUrl,
    maxBytes,
    maxBytesOfTenant: part.bytes,
    maxLeft: maxLeft - found.left.size,
  });
  const { end, added } = leave(found, composed);
  return { messages: composed.messages, bytes: composed.bytes, triggers: placed.length, end, added };
}

/** Reads messages of some tenants that have a backlog, of each the same part. */
async function readBacklogs(
  deps: OutgoingDeps,
  { first, served, tenants, baseUrl }: Work & { first: Others; served: readonly (Backlog & Source)[] },
): Promise<Pick<Composed, "messages"> & { ends: Served[] }> {
  if (served.length === 0) return { messages: [], ends: [] };
  const triggers = Math.ceil(Math.max(maxTriggers - first.triggers, minBacklogTriggers) / served.length);
  const found = await readTriggers(deps.db, { sources: served, others: [], maxTriggers: triggers, maxOfTenant: triggers, maxLeft: 0 });
  const placed = found.flatMap((one) => one.placed);
  const bytes = Math.max(maxBytes - first.bytes, 1);
  const composed = await compose(deps, {
    placed,
    tenants,
    baseUrl,
    maxBytes: bytes,
    maxBytesOfTenant: bytes / served.length,
    maxLeft: served.length,
  });
  return { messages: composed.messages, ends: served.map((backlog, n) => endOf(backlog, found[n], { placed, composed })) };
}

function endOf(
  { tenantId, ...from }: Backlog,
  found: Found | undefined,
  { placed, composed: { left, stop = placed.length } }: { placed: Found["placed"]; composed: Composed },
): Served {
  const first = placed.findIndex(({ trigger }) => trigger.tenantId === tenantId);
  const leftOut = left.get(tenantId) ?? placed.findIndex(({ trigger }, n) => n >= stop && trigger.tenantId === tenantId);
  return { tenantId, ...(placed[leftOut]?.at ?? found?.end ?? from), hasWaited: first >= stop };
}
