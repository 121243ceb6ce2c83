import { randomUUID } from "node:crypto";
import { type Database, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import { type OutCall, servicePrincipal } from "@harrier/rpc";
import { finishBackground, type OperationKind, postponeBackground, postponeOperation } from "./background.sql.ts";
import { type ChunkedOperation, endChunk, extendLease, maxFailures, nextChunk, takeDueChunked } from "./chunks.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  log: { warn(details: object, message: string): void };
}

/** What could not be done for some targets of a chunk: how many they are, and those of them that have a name. */
export interface ChunkFailures {
  readonly failed: number;
  readonly failures: readonly { controllerId: string; reason: string }[];
}

interface Work {
  readonly kind: OperationKind;
  /**
   * Does one chunk of an operation. It may be called again with what it has already done. Where it needs more calls than one, it asks for the lease
   * before each further one.
   */
  readonly carryOut: (operation: ChunkedOperation, targetIds: number[], extend: () => Promise<void>) => Promise<ChunkFailures | undefined>;
  /** This is logged with a failure. */
  readonly failure: string;
}

/** The lease is longer than the longest call, so that no replica repeats work that is still under way. */
const leaseSeconds = 20;
const callMs = 10_000;
/** A replica works on one operation for so long before it checks whether another is due. */
const roundMs = 5_000;

/**
 * Works on the targets of one operation for some seconds, chunk by chunk; true when there was one. Any number of replicas may run it, and each may be
 * killed at any point: the next one repeats the chunk that was under way. A failure is retried later.
 */
export async function workOnChunks(deps: Deps, work: Work, signal?: AbortSignal, pieceFailed?: () => void): Promise<boolean> {
  const { pool } = deps.db;
  const due = await runOne(pool, takeDueChunked, [work.kind, leaseSeconds]);
  if (due === undefined) return false;
  const { tenantId, id } = due;
  try {
    if (await workFor(deps, work, due, signal)) await run(pool, finishBackground, [tenantId, id]);
    else await run(pool, postponeOperation, [tenantId, id, 0]);
  } catch (error) {
    pieceFailed?.();
    deps.log.warn({ err: error, operation: id }, work.failure);
    await run(pool, postponeBackground, [tenantId, id, failureMessage(error, "management")]);
  }
  return true;
}

/** Does chunks for some seconds; true when nothing is left. */
async function workFor({ db }: Deps, { carryOut }: Work, due: ChunkedOperation, signal: AbortSignal | undefined): Promise<boolean> {
  const untilMs = Date.now() + roundMs;
  const extend = async () => {
    await run(db.pool, extendLease, [due.tenantId, due.id, leaseSeconds]);
  };
  while (signal?.aborted !== true && Date.now() < untilMs) {
    const next = await runOne(db.pool, nextChunk, [due.tenantId, due.id]);
    if (next === undefined) return true;
    const { failed = 0, failures = [] } = (await carryOut(due, next.targetIds, extend)) ?? {};
    const first = JSON.stringify(failures.slice(0, maxFailures));
    await run(db.pool, endChunk, [due.tenantId, due.id, next.chunk, leaseSeconds, failed, first]);
  }
  return false;
}

/** Makes the call for a chunk. The owner restricts it to the target types of the initiator: a target whose type has changed to another since stays. */
export function chunkCall({ tenantId, tenant }: ChunkedOperation, permission: string, scope: readonly number[] | null): OutCall {
  const principal = servicePrincipal("management", { id: tenantId, name: tenant });
  const limited = scope === null ? principal : { ...principal, targetTypeScopes: { [permission]: [...scope] } };
  return { principal: limited, rid: randomUUID(), deadline: Date.now() + callMs };
}
