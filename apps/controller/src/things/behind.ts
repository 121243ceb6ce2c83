import { isReplyExchange } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import type { ReadDeviceMessagesRequest } from "@harrier/rpc";
import { seenOf } from "./backlogs.ts";
import { type Missed, type Position, tellAgain } from "./outgoing.sql.ts";

/** Deletions of the last week are told again at most, and only while the outbox has them. */
const maxMissedMs = 7 * 86_400_000;
/** So many full exchanges of a tenant are kept one by one; with more it is behind as a whole. */
const maxFull = 50;

/** A tenant whose things get messages. */
export interface Tenant {
  readonly tenantId: number;
  readonly tenant: string;
  readonly vhost: string;
}

/** Adds tenants and exchanges to those that are behind: they have missed what this position confirms. */
export function withBehind(confirmed: string, { dropped, full }: Pick<ReadDeviceMessagesRequest, "dropped" | "full">, now: number): string {
  const position = JSON.parse(confirmed) as Position;
  const from = (tenantId: number): Since => ({ seen: position.backlogsFrom?.[tenantId] ?? position.from, at: now });
  const kept = withFull(
    position.full,
    full.filter(({ exchange }) => isReplyExchange(exchange)),
    from,
  );
  const perTenant = Map.groupBy(Object.keys(kept), tenantOf);
  const many = [...perTenant].flatMap(([tenantId, keys]) => (keys.length > maxFull ? [tenantId] : []));
  const behind = [...new Set([...(position.behind ?? []), ...dropped, ...many])];
  return JSON.stringify({ ...position, behind, missed: withMissed(position.missed, { tenantIds: dropped, from, now }), full: kept });
}

const exchangeKey = ({ tenantId, exchange }: { tenantId: number; exchange: string }): string => `${tenantId}/${exchange}`;
const tenantOf = (key: string): number => Number.parseInt(key, 10);
const exchangeNameOf = (key: string): string => key.slice(key.indexOf("/") + 1);

/** Adds exchanges that miss messages from now on; one that has missed some before has done so for longer, unless it is not known since when. */
function withFull(
  before: Position["full"] = {},
  exchanges: ReadDeviceMessagesRequest["full"],
  from: (tenantId: number) => Since,
): Record<string, Missed> {
  const known = Object.entries(before).filter(([, missed]) => missed.seen !== "");
  const added = exchanges.map((one) => {
    const { seen = "", at } = from(one.tenantId);
    return [exchangeKey(one), { seen, at }] as const;
  });
  return { ...before, ...Object.fromEntries([...added, ...known]) };
}

/** What was seen when messages began to be missed, if that is known, and when (epoch ms). */
interface Since {
  readonly seen: string | undefined;
  readonly at: number;
}

/** Adds tenants that miss messages from now on; who has missed some before has done so for longer. Nothing older than the outbox is kept. */
function withMissed(
  before: Position["missed"] = {},
  { tenantIds, from, now }: { tenantIds: readonly number[]; from: (tenantId: number) => Since; now: number },
): Record<string, Missed> {
  const kept = Object.entries(before).filter(([, missed]) => missed.at > now - maxMissedMs);
  const added = tenantIds.flatMap((id) => {
    const { seen, at } = from(id);
    return seen === undefined ? [] : [[String(id), { seen, at }] as const];
  });
  return Object.fromEntries([...added, ...kept]);
}

interface Waiting {
  readonly holder: string;
  readonly position: Position;
  readonly tenants: readonly Tenant[];
  readonly connected: readonly number[];
  readonly resting: ReadDeviceMessagesRequest["resting"];
}

/**
 * Has things told again whose tenant gets messages again (its virtual host had taken none, or it was suspended, when nothing is read for it), and those
 * behind an exchange that was full. Answers what the position keeps of tenants from now on.
 */
export async function catchUp(
  { db, now }: { db: Database; now: () => number },
  { holder, position, tenants, connected, resting }: Waiting,
): Promise<Pick<Position, "tenants" | "behind" | "missed" | "full">> {
  const ids = tenants.map(({ tenantId }) => tenantId);
  const active = new Map(tenants.map((tenant) => [tenant.tenantId, tenant]));
  const known = new Set(position.tenants ?? ids);
  const before = (position.behind ?? []).filter((id) => active.has(id));
  const behind = new Set([...before, ...ids.filter((id) => !known.has(id))]);
  const takes = new Set(connected);
  const rests = new Set(resting.map(exchangeKey));
  const suspended = [...known].filter((id) => !active.has(id));
  const since = (tenantId: number): Since => ({ seen: seenOf(position, tenantId), at: now() });
  const missed = withMissed(position.missed, { tenantIds: suspended, from: since, now: now() });
  const whole = tenants
    .filter(({ tenantId }) => behind.has(tenantId) && takes.has(tenantId) && !rests.has(exchangeKey({ tenantId, exchange: "" })))
    .map(({ tenantId, vhost }) => ({ tenantId, vhost, exchange: null, since: missed[tenantId]?.seen ?? "" }));
  const told = new Set(whole.map(({ tenantId }) => tenantId));
  for (const tenantId of told) delete missed[tenantId];
  const { due = [], waiting = [] } = Object.groupBy(Object.entries(position.full ?? {}), ([key]) =>
    takes.has(tenantOf(key)) && active.has(tenantOf(key)) && !rests.has(key) ? "due" : "waiting",
  );
  const ofExchanges = due.map(([key, { seen }]) => {
    const tenantId = tenantOf(key);
    return { tenantId, vhost: active.get(tenantId)?.vhost ?? "", exchange: exchangeNameOf(key), since: seen };
  });
  const kept = {
    tenants: ids,
    behind: [...behind].filter((id) => !told.has(id)),
    missed,
    full: aged(waiting, { active, since }),
  };
  const again = [...whole, ...ofExchanges];
  if (again.length > 0) {
    const [tenantIds, vhosts] = [again.map(({ tenantId }) => tenantId), again.map(({ vhost }) => vhost)];
    const [exchanges, since] = [again.map(({ exchange }) => exchange), again.map((one) => one.since)];
    await run(db.pool, tellAgain, [holder, JSON.stringify(kept), tenantIds, vhosts, exchanges, since]);
  }
  return kept;
}

/** What waits for longer than the outbox keeps deletions waits on for those from now on; of a tenant that is gone nothing waits. */
function aged(
  full: readonly [string, Missed][],
  { active, since }: { active: { has(tenantId: number): boolean }; since: (tenantId: number) => Since },
): Record<string, Missed> {
  return Object.fromEntries(
    full.flatMap(([key, missed]) => {
      const tenantId = tenantOf(key);
      const { seen = "", at } = since(tenantId);
      if (missed.at > at - maxMissedMs) return [[key, missed]];
      return active.has(tenantId) ? [[key, { seen, at }]] : [];
    }),
  );
}
