import { backOff, pause } from "@harrier/jobs";
import type { OnBehalf, OutCall, Principal } from "@harrier/rpc";
import { type AttachDeps, type Attached, attachUpload, outcomeUnknown, type PendingUpload, postpone } from "./attach.ts";
import type { Room } from "./measure.ts";

export interface UploadingDeps extends AttachDeps {
  readonly now: () => number;
}

/** The request in whose name management is asked. */
export interface Uploading {
  readonly principal: Principal;
  readonly onBehalf?: OnBehalf;
  readonly rid: string;
  readonly traceparent?: string;
  readonly moduleId: number;
}

/** The timeout of one attempt to attach. The attempts together (`timeoutMs`) take longer than a restart of management. */
const attemptMs = 5_000;
const timeoutMs = 20_000;

/** Asks management whether the module may have a file of this name, and how long it may be; it throws what forbids it. */
export async function checkUpload(deps: UploadingDeps, order: Uploading, filename = ""): Promise<Room> {
  const { storageLeft, ...room } = await deps.catalogue.checkUpload({ moduleId: order.moduleId, filename }, callOf(deps, order));
  return storageLeft === 0 ? room : { ...room, storageLeft };
}

function callOf(deps: UploadingDeps, order: Uploading): OutCall {
  const { principal, onBehalf, rid, traceparent } = order;
  const call: OutCall = { principal, rid, deadline: deps.now() + attemptMs };
  if (onBehalf !== undefined) call.onBehalf = onBehalf;
  if (traceparent !== undefined) call.traceparent = traceparent;
  return call;
}

/** Repeats the same command while its outcome is unknown. After `timeoutMs` the janitor takes over, and the client is told to try again. */
export async function attachWithRetries(deps: UploadingDeps, order: Uploading, upload: PendingUpload): Promise<Attached> {
  const until = deps.now() + timeoutMs;
  for (let attempts = 0; ; attempts += 1) {
    const outcome = await attachUpload(deps, { ...upload, attempts }, { ...callOf(deps, order), uploader: order.principal.subject });
    if (outcome.kind === "attached") return outcome.artifact;
    if (outcome.kind === "refused") throw outcome.error;
    if (deps.now() >= until) {
      await postpone(deps, upload, 0, outcome.error).catch(() => {}); // if this fails, the lease runs out by itself
      throw outcomeUnknown(outcome.error);
    }
    await pause(backOff(attempts + 1, { firstMs: 100, maxMs: 2_000 }));
  }
}
