import { type Database, inTransaction, type Queryable, runOne } from "@harrier/db";
import { alreadyExists, entityNotFound, HarrierError, metadataNotFound } from "@harrier/errors";
import type {
  AddMetadataRequest,
  CallContext,
  ChangeMetadataRequest,
  ChangeMetadataResponseInput,
  RemoveMetadataRequest,
} from "@harrier/rpc";
import { revisionOfContent } from "@harrier/service";
import { tooMuchMetadata } from "../domain/quota-exceeded.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import {
  addTargetMetadata,
  changeTargetMetadata,
  findTakenKeys,
  findTargetMetadata,
  lockTargetForMetadata,
  putTargetMetadata,
} from "./metadata.sql.ts";
import { scopeOf } from "./targets.ts";

interface Deps {
  db: Database;
  limits: LimitsOf;
}

/**
 * Returns the target types to which a writer of metadata is restricted. The repository's permissions may be enough to write it (contract
 * management.md §4.6) and know no target types: a user without UPDATE_TARGET reaches as far as they can read.
 */
const scopeOfWriter = (ctx: CallContext): number[] | null =>
  scopeOf(ctx, ctx.principal.permissions.includes("UPDATE_TARGET") ? "UPDATE_TARGET" : "READ_TARGET");

/** Adds all entries or none; an existing key is rejected (contract management.md §4.6), unless the caller wants it overwritten. */
export async function addMetadata(deps: Deps, request: AddMetadataRequest, ctx: CallContext): Promise<Record<string, never>> {
  const { controllerId, entries } = request;
  const { tenantId, subject } = ctx.principal;
  const [keys, values] = [entries.map((entry) => entry.key), entries.map((entry) => entry.value ?? null)];
  const max = deps.limits(tenantId).METADATA_PER_TARGET_MAX_COUNT;
  const parameters = [tenantId, ctx.commandId ?? "", controllerId, keys, values, max, scopeOfWriter(ctx), subject] as const;
  const row = await runOne(deps.db.pool, request.overwrite ? putTargetMetadata : addTargetMetadata, [...parameters]);
  if (row?.outcome === "targetNotFound") throw entityNotFound("Target", controllerId);
  if (row?.outcome === "taken") throw await taken(deps, { tenantId, controllerId, keys });
  if (row?.outcome === "tooMany") throw tooMuchMetadata(controllerId, entries.length, max);
  return {};
}

/** Names the key that exists already, or is twice in the request; it is read only when the request has been rejected. */
async function taken(
  { db }: Deps,
  { tenantId, controllerId, keys }: { tenantId: number; controllerId: string; keys: string[] },
): Promise<HarrierError> {
  const key =
    keys.find((given, n) => keys.indexOf(given) < n) ?? (await runOne(db.pool, findTakenKeys, [tenantId, controllerId, keys]))?.key;
  return alreadyExists(key === undefined ? undefined : { key });
}

/** Changes one entry; an unknown key is not added. */
export async function changeMetadata(deps: Deps, request: ChangeMetadataRequest, ctx: CallContext): Promise<ChangeMetadataResponseInput> {
  const { controllerId, key, ifRevisions } = request;
  const changed = { ...request, value: request.value ?? null, remove: false };
  if (ifRevisions.length === 0) return answer(await change(deps.db.pool, ctx, changed));
  // Who writes metadata of a target has it locked, so the entry stays as it is read behind the lock.
  return inTransaction(deps.db.pool, async (tx) => {
    const target = await runOne(tx, lockTargetForMetadata, [ctx.principal.tenantId, controllerId, scopeOfWriter(ctx)]);
    const entry = target && (await runOne(tx, findTargetMetadata, [ctx.principal.tenantId, target.id, key]));
    // Management hashes `targetVisible` too, which entries of targets do not have: false.
    if (entry !== undefined && !ifRevisions.includes(revisionOfContent(entry.value, false))) throw new HarrierError("entityChanged");
    return answer(await change(tx, ctx, changed));
  });
}

function answer(value: string | null): ChangeMetadataResponseInput {
  return value === null ? {} : { value };
}

/** Removes one entry. */
export async function removeMetadata(deps: Deps, request: RemoveMetadataRequest, ctx: CallContext): Promise<Record<string, never>> {
  await change(deps.db.pool, ctx, { ...request, value: null, remove: true });
  return {};
}

interface Change {
  controllerId: string;
  key: string;
  value: string | null;
  remove: boolean;
}

/** Returns the value after the change. */
async function change(db: Queryable, ctx: CallContext, { controllerId, key, value, remove }: Change): Promise<string | null> {
  const { tenantId, subject } = ctx.principal;
  const row = await runOne(db, changeTargetMetadata, [tenantId, controllerId, key, value, remove, scopeOfWriter(ctx), subject]);
  if (row?.outcome === "targetNotFound") throw entityNotFound("Target", controllerId);
  if (row?.outcome === "keyNotFound") throw metadataNotFound("Target", controllerId, key);
  return row?.value ?? null;
}
