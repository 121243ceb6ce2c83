import { type Queryable, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { addTraffic, readVolumes, type VolumeRow } from "./traffic.sql.ts";

/** Counts the bytes sent, and decides whether a tenant may receive more of them this month (contract extensions.md, quotas; spec 000 §7.1). */
export interface Traffic {
  /** Counts bytes that are sent. It never waits and never fails. */
  sent(tenantId: number, bytes: number): void;
  /** Throws if the data volume of the month is used up, and throws `unavailable` until the limits have been read once. */
  check(tenantId: number): void;
  /** Reads limits and use if they were not read in the last second, because nobody downloads while the counter rests. */
  refresh(): Promise<void>;
  ready(): boolean;
  /** The number of tenants with bytes that have not been written yet. */
  readonly size: number;
  /** Does a beat, unless nothing was sent and nobody has asked for seconds. */
  beatUnlessAtRest(): Promise<void>;
  /** Writes the counted bytes, then reads limits and use. If writing fails, the counts stay in memory and the limits already known apply. */
  beat(): Promise<void>;
}

export interface TrafficDeps {
  readonly pool: Queryable;
  readonly now: () => number;
}

const key = "DATA_TRAFFIC_PER_MONTH_MAX_BYTES";

/** Returns the first day of the month, in UTC. */
export function monthOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 7)}-01`;
}

/** A download decides by limits that are at most this old. */
const freshMs = 1_000;
/** The counter rests when nobody has downloaded for so long; then it reads the limits as seldom. */
const restAfterMs = 5_000;
const restMs = 15_000;

/** The bytes that have been sent and are not yet in the limits that were read last. */
function createUncounted(pool: Queryable) {
  let gathered = new Map<number, number>();
  let writing: ReadonlyMap<number, number> = new Map();

  function add(tenantId: number, bytes: number): void {
    gathered.set(tenantId, (gathered.get(tenantId) ?? 0) + bytes);
  }

  return {
    add,
    of: (tenantId: number) => (writing.get(tenantId) ?? 0) + (gathered.get(tenantId) ?? 0),
    get size() {
      return gathered.size + writing.size;
    },
    /** Writes what was gathered. If that fails, it stays gathered. */
    async write(month: string): Promise<void> {
      writing = gathered;
      gathered = new Map();
      if (writing.size === 0) return;
      try {
        await run(pool, addTraffic, [month, [...writing.keys()], [...writing.values()]]);
      } catch (error) {
        for (const [tenantId, bytes] of writing) add(tenantId, bytes);
        writing = new Map();
        throw error;
      }
    },
    /** What was written is in the limits that have been read since. */
    forgetWritten(): void {
      writing = new Map();
    },
  };
}

/**
 * Counts in memory and writes in batches, so that a download costs no round trip. A replica knows its own bytes at once and those of the
 * others within two calls of `beat`. Running downloads are not cut: what is on its way when the limit is reached exceeds it.
 */
export function createTraffic(deps: TrafficDeps): Traffic {
  const uncounted = createUncounted(deps.pool);
  let volumes: ReadonlyMap<number, VolumeRow> | undefined;
  let refreshing: Promise<void> | undefined;
  let beating: Promise<void> = Promise.resolve();
  let readAt = Number.NEGATIVE_INFINITY;
  let neededAt = Number.NEGATIVE_INFINITY;

  async function work(): Promise<void> {
    const month = monthOf(deps.now());
    await uncounted.write(month);
    const rows = await run(deps.pool, readVolumes, [month, key]);
    readAt = performance.now();
    volumes = new Map(rows.map((row) => [row.tenantId, row]));
    uncounted.forgetWritten();
  }

  const beat = (): Promise<void> => {
    const done = beating.then(work);
    beating = done.catch(() => {});
    return done;
  };

  return {
    sent(tenantId, bytes) {
      neededAt = performance.now();
      uncounted.add(tenantId, bytes);
    },
    async refresh() {
      neededAt = performance.now();
      if (neededAt - readAt <= freshMs) return;
      // Downloads that begin at the same moment wait for one reading. Limits that cannot be read stay as they are, and `check` says whether there are
      // any.
      refreshing ??= beat()
        .catch(() => {})
        .finally(() => {
          refreshing = undefined;
        });
      await refreshing;
    },
    check(tenantId) {
      neededAt = performance.now();
      if (volumes === undefined) throw new HarrierError("unavailable");
      const volume = volumes.get(tenantId);
      if (volume === undefined) return;
      const used = volume.used + uncounted.of(tenantId);
      if (used < volume.limit) return;
      const message = `Quota exceeded: the data volume of ${volume.limit} bytes for this month is used up.`;
      throw new HarrierError("dataVolumeExceeded", message);
    },
    ready: () => volumes !== undefined,
    get size() {
      return uncounted.size;
    },
    async beatUnlessAtRest() {
      const at = performance.now();
      const pending = uncounted.size > 0;
      if (pending || at - neededAt < restAfterMs || at - readAt >= restMs) await beat();
    },
    beat,
  };
}
