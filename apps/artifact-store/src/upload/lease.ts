import { randomUUID } from "node:crypto";
import { type Database, run, runCount } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { beginUpload, renewLease } from "./upload.sql.ts";

/** An upload whose lease has run out belongs to the next janitor: this long after its process died. */
export const leaseMs = 15_000;

/** Who may change the upload's row and its objects. */
export interface Lease {
  readonly tenantId: number;
  readonly id: string;
  readonly leaseId: string;
}

/** Enters a new upload, leased to the caller. */
export async function openUpload(db: Database, principal: Principal, moduleId: number): Promise<Lease> {
  const lease = { tenantId: principal.tenantId, id: randomUUID(), leaseId: randomUUID() };
  await run(db.pool, beginUpload, [lease.tenantId, lease.id, lease.leaseId, moduleId, JSON.stringify(principal), leaseMs]);
  return lease;
}

/**
 * Keeps the lease alive until it is disposed. A renewal that fails is tried again by the next one; whoever lost the lease
 * all the same is stopped by the guards in the statements.
 */
export function keepLease(db: Database, lease: Lease): Disposable {
  const renew = (): void => void runCount(db.pool, renewLease, [lease.tenantId, lease.id, lease.leaseId, leaseMs]).catch(() => {});
  const timer = setInterval(renew, leaseMs / 3);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export function leaseLost(): HarrierError {
  return new HarrierError("unavailable", "The upload took too long to make progress and was given up; send it again.");
}
