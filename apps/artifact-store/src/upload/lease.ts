import { randomUUID } from "node:crypto";
import { type Database, run, runCount } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { beginUpload, renewLease } from "./upload.sql.ts";

/** A lease is valid for this long; the janitor takes over an upload whose process has not renewed it. */
export const leaseMs = 15_000;

/** The right to change an upload's row and its objects. */
export interface Lease {
  readonly tenantId: number;
  readonly id: string;
  readonly leaseId: string;
}

/** Stores a new upload, leased to the caller. */
export async function openUpload(db: Database, principal: Principal, moduleId: number): Promise<Lease> {
  const lease = { tenantId: principal.tenantId, id: randomUUID(), leaseId: randomUUID() };
  await run(db.pool, beginUpload, [lease.tenantId, lease.id, lease.leaseId, moduleId, JSON.stringify(principal), leaseMs]);
  return lease;
}

/**
 * Renews the lease until it is disposed. If a renewal fails, the next one follows soon. A process that loses the lease nevertheless can
 * change nothing more, because every statement checks the lease. `statement` renews it: uploads in one piece and those in parts have tables of their own.
 */
export function keepLease(db: Database, lease: Lease, statement = renewLease): Disposable {
  const renew = (): void => void runCount(db.pool, statement, [lease.tenantId, lease.id, lease.leaseId, leaseMs]).catch(() => {});
  const timer = setInterval(renew, leaseMs / 3);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export function leaseLost(): HarrierError {
  return new HarrierError("unavailable", "The upload took too long to make progress and was given up; send it again.");
}
