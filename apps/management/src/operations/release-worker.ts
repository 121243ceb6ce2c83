import { randomUUID } from "node:crypto";
import { type Queryable, run, runCount } from "@harrier/db";
import { type Client, servicePrincipal } from "@harrier/rpc";
import { finishOperations, type OperationRow, postponeOperation, takeDueReleases } from "./operations.sql.ts";
import { WorkLoop } from "./work-loop.ts";

interface Deps {
  db: Queryable;
  artifacts: Pick<Client<"harrier.artifactstore.v1.ArtifactsService">, "releaseArtifact">;
  log: { warn(details: object, message: string): void };
  pollMs?: number;
}

const most = 50;
const atOnce = 5;
const callMs = 5_000;
/** Longer than one round over a batch can take, so that nobody repeats what is still being done. */
const leaseSeconds = (callMs / 1000) * (most / atOnce) + 10;

/**
 * Gives artifact references back to artifact-store until it has acknowledged each (architecture §2, durable operations). Any number of
 * replicas may run it; a reference that is given back twice is given back once there.
 */
export class ReleaseWorker {
  readonly #deps: Deps;
  readonly #loop: WorkLoop;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      work: () => this.releaseDue(),
      failed: (err) => deps.log.warn({ err }, "artifact references cannot be given back"),
      pollMs: deps.pollMs ?? 2_000,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  readonly nudge = (): void => this.#loop.nudge();

  /** One batch; true when there may be more. */
  async releaseDue(): Promise<boolean> {
    const due = await run(this.#deps.db, takeDueReleases, [most, leaseSeconds]);
    for (let i = 0; i < due.length; i += atOnce) await this.#release(due.slice(i, i + atOnce));
    return due.length === most;
  }

  async #release(operations: readonly OperationRow[]): Promise<void> {
    const errors = await Promise.all(operations.map((operation) => this.#ask(operation)));
    const done = operations.filter((_, n) => errors[n] === undefined);
    if (done.length > 0) await runCount(this.#deps.db, finishOperations, [done.map((o) => o.tenantId), done.map((o) => o.id)]);
    for (const [n, error] of errors.entries()) {
      const operation = operations[n];
      if (error === undefined || operation === undefined) continue;
      this.#deps.log.warn({ err: error, operation }, "an artifact reference was not given back; it will be tried again");
      await runCount(this.#deps.db, postponeOperation, [operation.tenantId, operation.id, String(error)]);
    }
  }

  async #ask({ tenantId, tenant, payload }: OperationRow): Promise<unknown> {
    const principal = servicePrincipal("management", { id: tenantId, name: tenant });
    try {
      await this.#deps.artifacts.releaseArtifact(payload, { principal, rid: randomUUID(), deadline: Date.now() + callMs });
      return undefined;
    } catch (error) {
      return error ?? new Error("refused without a reason");
    }
  }
}
