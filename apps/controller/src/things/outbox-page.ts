import { type Database, run } from "@harrier/db";
import { type OutgoingRow, type Place, readOutgoing } from "./outgoing.sql.ts";
import { type Trigger, triggersOf } from "./triggers.ts";

/** A call looks at so many rows of the outbox behind each place, and takes so many of them. */
const maxScanned = 5_000;
const maxRows = 200;

/** From where a page is read: for one tenant, or for all others (`Sources.others`). */
export type Source = Place & { readonly tenantId?: number };

export interface Sources {
  readonly sources: readonly Source[];
  readonly others: readonly number[];
  /** Of each source so many triggers are taken, and so many of a tenant. */
  readonly maxTriggers: number;
  readonly maxOfTenant: number;
  /** So many tenants may be left with what they have above that. */
  readonly maxLeft: number;
}

/** A trigger, and the place from which it is read again. */
export interface Placed {
  readonly trigger: Trigger;
  readonly at: Place;
}

/** What a source has, and where it ends. */
export interface Found {
  readonly placed: readonly Placed[];
  readonly end: Place;
  /** Tenants that have more than their part of the page: from where theirs goes on, and behind how many of `placed` that is. */
  readonly left: ReadonlyMap<number, { readonly at: Place; readonly after: number }>;
}

/** Reads the next page of triggers of each source, in one round trip. */
export async function readTriggers(db: Database, { sources, others, ...limits }: Sources): Promise<Found[]> {
  if (sources.length === 0) return [];
  const of = <T>(get: (source: Source) => T | undefined): (T | null)[] => sources.map((source) => get(source) ?? null);
  const rows = await run(db.pool, readOutgoing, [
    of(({ tenantId }) => tenantId),
    of(({ seen }) => seen),
    of(({ upTo }) => upTo),
    of(({ row }) => row),
    [...others],
    maxScanned,
    maxRows,
  ]);
  const bySource = Map.groupBy(rows, ({ place }) => place);
  return sources.map((source, n) => findTriggers(bySource.get(n) ?? [], source, limits));
}

type Limits = Pick<Sources, "maxTriggers" | "maxOfTenant" | "maxLeft">;

/** Finds the triggers in rows of a source, and where it ends: at the first one that is too many, or behind what was read. */
export function findTriggers(rows: readonly OutgoingRow[], from: Source, { maxTriggers, maxOfTenant, maxLeft }: Limits): Found {
  const left = new Map<number, { at: Place; after: number }>();
  const placed: Placed[] = [];
  const [first] = rows;
  if (first === undefined) return { placed, end: placeOf(from), left };
  const { upTo, scanned, lastRow } = first;
  const seen = from.seen ?? upTo;
  const taken = new Map<number, number>();
  const found = rows.filter((row) => row.id !== null);
  for (const row of found) {
    const { tenantId } = row;
    const id = row.id as string;
    const items = triggersOf(row);
    for (let item = id === from.row ? (from.item ?? 0) : 0; item < items.length && !left.has(tenantId); item += 1) {
      const at = { seen, upTo, row: id, item };
      if (placed.length >= maxTriggers) return { placed, end: at, left };
      const triggers = items[item] ?? [];
      const ofTenant = taken.get(tenantId) ?? 0;
      if (triggers.length > 0 && ofTenant >= maxOfTenant && left.size < maxLeft) {
        left.set(tenantId, { at, after: placed.length });
        break;
      }
      taken.set(tenantId, ofTenant + triggers.length);
      for (const trigger of triggers) placed.push({ trigger, at });
    }
  }
  if (found.length === maxRows) return { placed, end: { seen, upTo, row: next(found.at(-1)?.id ?? "0") }, left };
  if (scanned === maxScanned && lastRow !== null) return { placed, end: { seen, upTo, row: next(lastRow) }, left };
  return { placed, end: { seen: upTo }, left };
}

const next = (id: string): string => String(BigInt(id) + 1n);

/** The place alone of what has one. */
export function placeOf({ seen, upTo, row, item }: Place): Place {
  return {
    ...(seen === undefined ? {} : { seen }),
    ...(upTo === undefined ? {} : { upTo }),
    ...(row === undefined ? {} : { row }),
    ...(item === undefined ? {} : { item }),
  };
}
