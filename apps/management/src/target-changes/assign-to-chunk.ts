import { hash } from "node:crypto";
import { type Database, run } from "@harrier/db";
import { codes, type HarrierError, toHarrierError } from "@harrier/errors";
import type { Client, ReserveSetResponse } from "@harrier/rpc";
import { endUse, reserve } from "../catalogue/reserve-set.ts";
import { type ChunkFailures, chunkCall } from "../operations/chunk-worker.ts";
import type { ChunkedOperation } from "../operations/chunks.sql.ts";
import { toAssignment } from "../targets/assignment.ts";
import type { ChangePayload } from "./change-targets.ts";
import { findAssignable } from "./target-changes.sql.ts";

export interface AssignChunkDeps {
  db: Database;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "assignSet">;
  /** Keeps other replicas from the chunk while it takes many calls. */
  extend: () => Promise<void>;
}

type Failure = ChunkFailures["failures"][number];

/**
 * Whether the outcome is unknown, or another try may succeed: the chunk is repeated later, and the reservation of the set stays until it expires. A
 * controller of the release before does not let management assign for itself; it is updated soon.
 */
const isTemporary = (code: HarrierError["code"]): boolean =>
  codes[code].retryable || code === "internal" || code === "insufficientPermission";

/**
 * Assigns the set of an operation to the targets of one chunk (contract console.md §4, M16), by the rules of any assignment (contract management.md
 * §5.3). What is refused is counted as failed, with the code of the error as the reason. A chunk that is repeated finds its assignments made.
 */
export async function assignToChunk(deps: AssignChunkDeps, due: ChunkedOperation, targetIds: number[]): Promise<ChunkFailures> {
  const { scope, value } = due.payload as ChangePayload;
  const { tenantId, createdBy: subject } = due;
  const setId = value ?? 0;
  const user = { tenantId, subject };
  const reserved = await refusable(() => reserve(deps, user, setId));
  const found = await run(deps.db.pool, findAssignable, [tenantId, targetIds, scope, reserved.value?.typeId ?? 0]);
  const gone = targetIds.length - found.length;
  const failures: Failure[] = [];
  if (reserved.refusal !== undefined) {
    for (const { controllerId } of found) failures.push({ controllerId, reason: reserved.refusal });
  } else {
    for (const { controllerId, compatible } of found) if (!compatible) failures.push({ controllerId, reason: "targetTypeIncompatible" });
    const controllerIds = found.filter(({ compatible }) => compatible).map(({ controllerId }) => controllerId);
    failures.push(...(await assignTo({ ...deps, due, set: reserved.value }, controllerIds)));
    await endUse(deps, user, [setId]).catch(() => undefined); // a reservation that cannot be ended now expires
  }
  return { failed: gone + failures.length, failures };
}

/** Assigns in one command; where that refuses, it tries each half, so that one full target does not keep the set from the others. */
async function assignTo(
  deps: AssignChunkDeps & { due: ChunkedOperation; set: ReserveSetResponse },
  controllerIds: readonly string[],
): Promise<Failure[]> {
  if (controllerIds.length === 0) return [];
  const { refusal } = await refusable(() => deps.actions.assignSet(commandFor(deps, controllerIds), callFor(deps.due, controllerIds)));
  if (refusal === undefined) return [];
  const [first = "", second] = controllerIds;
  if (second === undefined) return [{ controllerId: first, reason: refusal }];
  await deps.extend();
  const middle = Math.ceil(controllerIds.length / 2);
  return [...(await assignTo(deps, controllerIds.slice(0, middle))), ...(await assignTo(deps, controllerIds.slice(middle)))];
}

function commandFor({ due, set }: { due: ChunkedOperation; set: ReserveSetResponse }, controllerIds: readonly string[]) {
  const { assignment } = due.payload as ChangePayload;
  const { type = "forced", forcetime = 0, weight, confirmationRequired } = assignment ?? {};
  const item = { id: 0, type, forcetime, weight, confirmationRequired, safety: undefined, window: undefined, place: 0 };
  return { set, items: controllerIds.map((controllerId) => toAssignment(item, controllerId)), initiator: due.createdBy };
}

/** The same targets of the same operation are the same command, so that a repetition gets the actions of the first one. */
function callFor(due: ChunkedOperation, controllerIds: readonly string[]) {
  const { scope } = due.payload as ChangePayload;
  const commandId = `change-targets:${due.id}:${hash("sha256", JSON.stringify(controllerIds))}`;
  return { ...chunkCall(due, "UPDATE_TARGET", scope), commandId };
}

type Outcome<T> = { value: T; refusal?: undefined } | { value?: undefined; refusal: string };

/** Answers the code of an error that another try would get too, and throws any other. */
async function refusable<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    const { code } = toHarrierError(thrown);
    if (isTemporary(code)) throw thrown;
    return { refusal: code };
  }
}
