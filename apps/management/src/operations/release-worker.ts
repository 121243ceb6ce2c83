import { randomUUID } from "node:crypto";
import { type Queryable, run, runCount } from "@harrier/db";
import { type Client, servicePrincipal } from "@harrier/rpc";
import { finishOperations, type OperationRow, postponeOperation, takeDueReleases } from "./operations.sql.ts";

interface Deps {
  db: Queryable;
  artifacts: Pick<Client<"harrier.artifactstore.v1.ArtifactsService">, "releaseArtifact">;
  log: { warn(details: object, message: string): void };
}

const max = 50;
const concurrency = 5;
const callMs = 5_000;
/** The lease is longer than one round over a batch can take, so that no replica repeats work that is still under way. */
const leaseSeconds = (callMs / 1000) * (max / concurrency) + 10;

/**
 * Releases one batch of artifact references at artifact-store; true when there may be more, false when there was none. Each is repeated until artifact-store has
 * acknowledged it (architecture §2, durable operations). Any number of replicas may run it; artifact-store ignores the second release of a
 * reference.
 */
export async function releaseDue(deps: Deps, pieceFailed?: () => void): Promise<boolean | undefined> {
  const due = await run(deps.db, takeDueReleases, [max, leaseSeconds]);
  for (let i = 0; i < due.length; i += concurrency) await release(deps, due.slice(i, i + concurrency), pieceFailed);
  return due.length === 0 ? false : due.length === max || undefined;
}

async function release(deps: Deps, operations: readonly OperationRow[], pieceFailed: (() => void) | undefined): Promise<void> {
  const errors = await Promise.all(operations.map((operation) => ask(deps, operation)));
  const done = operations.filter((_, n) => errors[n] === undefined);
  if (done.length > 0) await runCount(deps.db, finishOperations, [done.map((o) => o.tenantId), done.map((o) => o.id)]);
  for (const [n, error] of errors.entries()) {
    const operation = operations[n];
    if (error === undefined || operation === undefined) continue;
    pieceFailed?.();
    deps.log.warn({ err: error, operation }, "an artifact reference was not given back; it will be tried again");
    await runCount(deps.db, postponeOperation, [operation.tenantId, operation.id, String(error)]);
  }
}

async function ask({ artifacts }: Deps, { tenantId, tenant, payload }: OperationRow): Promise<unknown> {
  const principal = servicePrincipal("management", { id: tenantId, name: tenant });
  try {
    await artifacts.releaseArtifact(payload, { principal, rid: randomUUID(), deadline: Date.now() + callMs });
    return undefined;
  } catch (error) {
    return error ?? new Error("refused without a reason");
  }
}
