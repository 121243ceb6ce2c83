import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

export interface LeadershipOptions {
  /** The pool keeps sessions (`Database.session`), because the lock belongs to one of them. */
  session: pg.Pool;
  /** Candidates with the same key compete for the same leadership. */
  key: string;
  /** It ends the candidacy, and the leadership if it is held. */
  signal: AbortSignal;
  /**
   * The leader's work. Its signal aborts when the leadership is lost or the candidacy ends; then it must return soon. `fence` grows with every
   * leadership on this server: a leader can store it with what it writes, so that a late write of a former leader is refused.
   */
  lead: (signal: AbortSignal, fence: number) => Promise<void>;
  /**
   * It gets an error of `lead` or of the database, and the candidate retries after `retryMs`. Without it such an error ends the candidacy by
   * rejecting.
   */
  onError?: (error: unknown) => void;
  retryMs?: number;
}

const HEARTBEAT_MS = 5000;
const HEARTBEAT_LIMIT_MS = 3000;

/** Makes one replica the leader, by a session advisory lock. Returns when `signal` aborts, after `lead` has returned and the lock is free. */
export async function withLeadership(options: LeadershipOptions): Promise<void> {
  const { signal, onError, retryMs = 500 } = options;
  while (!signal.aborted) {
    try {
      await attempt(options);
    } catch (error) {
      if (onError === undefined) throw error;
      onError(error);
    }
    // it is not a blocking lock, because a statement that waits for hours keeps its snapshot and so prevents vacuum
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function attempt({ session, key, signal, lead }: LeadershipOptions): Promise<void> {
  const client = await session.connect();
  const lost = new AbortController();
  const onLost = () => lost.abort(new Error(`leadership of ${key} lost with its connection`));
  client.on("error", onLost);
  client.on("end", onLost);
  let failed: Error | undefined;
  try {
    const { rows } = await client.query<{ led: boolean }>("select pg_try_advisory_lock(hashtextextended($1, 0)) as led", [lockName(key)]);
    if (rows[0]?.led !== true || signal.aborted) return;
    const fence = await client.query<{ fence: number }>("select pg_current_xact_id()::text::bigint as fence");
    const heartbeat = watch(client, lost);
    try {
      await lead(AbortSignal.any([signal, lost.signal]), Number(fence.rows[0]?.fence));
    } finally {
      clearInterval(heartbeat);
    }
  } catch (error) {
    failed = error as Error;
    throw error;
  } finally {
    client.off("error", onLost);
    client.off("end", onLost);
    // unlock_all also releases a lock that was acquired at the moment the candidacy ended
    if (failed === undefined && !lost.signal.aborted)
      await client.query("select pg_advisory_unlock_all()").catch((error: Error) => {
        failed = error;
      });
    client.release(failed ?? lost.signal.aborted);
  }
}

const lockName = (key: string): string => `harrier leader ${key}`;

/** Probes the connection from time to time, because it can die silently (a host that is gone); no answer counts as loss. */
function watch(client: pg.PoolClient, lost: AbortController): NodeJS.Timeout {
  let asking = false;
  return setInterval(async () => {
    if (asking || lost.signal.aborted) return;
    asking = true;
    const limit = setTimeout(() => lost.abort(new Error("leadership lost: the database does not answer")), HEARTBEAT_LIMIT_MS);
    try {
      await client.query("select 1");
      asking = false;
    } catch (error) {
      lost.abort(error);
    } finally {
      clearTimeout(limit);
    }
  }, HEARTBEAT_MS);
}
