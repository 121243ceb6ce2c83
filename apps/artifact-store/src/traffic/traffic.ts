import { type Queryable, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { addTraffic, readVolumes, type VolumeRow } from "./traffic.sql.ts";

/** Bytes sent, and whether a tenant may have more of them this month (contract extensions.md, quotas; spec 000 §7.1). */
export interface Traffic {
  /** Counts what goes out; never waits and never fails. */
  sent(tenantId: number, bytes: number): void;
  /** Throws where the data volume of the month is used up, and `unavailable` until the limits have been read once. */
  check(tenantId: number): void;
  ready(): boolean;
  /** Writes what has gathered, then reads limits and use anew. */
  beat(): Promise<void>;
  start(): void;
  /** Writes the rest and ends. */
  stop(): Promise<void>;
}

export interface TrafficDeps {
  readonly pool: Queryable;
  readonly now: () => number;
  readonly log: { warn(fields: object, message: string): void };
  /** Default 500 ms: so much may be lost with a process, and twice that passes until other replicas know. */
  readonly everyMs?: number;
}

const key = "DATA_TRAFFIC_PER_MONTH_MAX_BYTES";

/** First day of the month, UTC. */
export function monthOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 7)}-01`;
}

type Bytes = Map<number, number>;

function addTo(bytes: Bytes, tenantId: number, n: number): void {
  bytes.set(tenantId, (bytes.get(tenantId) ?? 0) + n);
}

/**
 * Counts in memory and writes in batches: a download costs no round trip for it. A replica knows its own bytes at once and those of
 * the others within two beats. Running downloads are not cut: a limit is exceeded by what is on its way when it is reached.
 */
export function createTraffic(deps: TrafficDeps): Traffic {
  let gathered: Bytes = new Map();
  /** Written, or about to be, but not yet in `volumes`. */
  let writing: Bytes = new Map();
  let volumes: ReadonlyMap<number, VolumeRow> | undefined;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;
  let beating: Promise<void> = Promise.resolve();

  async function write(month: string): Promise<void> {
    writing = gathered;
    gathered = new Map();
    if (writing.size === 0) return;
    try {
      await run(deps.pool, addTraffic, [month, [...writing.keys()], [...writing.values()]]);
    } catch (error) {
      for (const [tenantId, bytes] of writing) addTo(gathered, tenantId, bytes);
      writing = new Map();
      throw error;
    }
  }

  async function work(): Promise<void> {
    try {
      const month = monthOf(deps.now());
      await write(month);
      const rows = await run(deps.pool, readVolumes, [month, key]);
      volumes = new Map(rows.map((row) => [row.tenantId, row]));
      writing = new Map();
      failing = false;
    } catch (err) {
      // once per outage: what was sent stays for the next time, and what is known of limits goes on to apply
      if (!failing) deps.log.warn({ err }, "data traffic could not be written or read");
      failing = true;
    }
  }

  function beat(): Promise<void> {
    beating = beating.then(work);
    return beating;
  }

  async function repeat(): Promise<void> {
    await beat();
    if (running) timer = setTimeout(repeat, deps.everyMs ?? 500);
  }

  return {
    sent: (tenantId, bytes) => addTo(gathered, tenantId, bytes),
    check(tenantId) {
      if (volumes === undefined) throw new HarrierError("unavailable");
      const volume = volumes.get(tenantId);
      if (volume === undefined) return;
      const used = volume.used + (writing.get(tenantId) ?? 0) + (gathered.get(tenantId) ?? 0);
      if (used < volume.limit) return;
      const message = `Quota exceeded: the data volume of ${volume.limit} bytes for this month is used up.`;
      throw new HarrierError("dataVolumeExceeded", message);
    },
    ready: () => volumes !== undefined,
    beat,
    start() {
      if (running) return;
      running = true;
      void repeat();
    },
    stop() {
      running = false;
      clearTimeout(timer);
      return beat();
    },
  };
}
