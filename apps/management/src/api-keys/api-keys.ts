import { randomBytes } from "node:crypto";
import { formatDeviceApiKey } from "@harrier/contracts";
import { type Database, digest, type IdBlocks, inTransaction, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, quotaExceeded } from "@harrier/errors";
import { type IfMatch, requireRevision, unmatched } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { limitsOf } from "../quotas/limits.ts";
import {
  type ApiKeyRow,
  deleteApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  lockTenantForKey,
  newApiKeyValues,
  updateApiKey,
} from "./api-keys.sql.ts";

/** A key is valid for at most so long after its creation (spec 000 §8). */
const maxLifeMs = 365 * 24 * 60 * 60 * 1000;

export interface ApiKeyDeps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  now: () => number;
}

export interface ApiKeyInput {
  name: string;
  description?: string | undefined;
  /** The time is in epoch milliseconds. */
  expiresAt: number;
}

/** Lists all keys of the tenant (spec 000 §4.3). */
export function listKeys(deps: Pick<ApiKeyDeps, "db">, tenantId: number): Promise<ApiKeyRow[]> {
  return run(deps.db.pool, listApiKeys, [tenantId]);
}

/** Returns one key (spec 000 §4.3). */
export async function getKey(deps: Pick<ApiKeyDeps, "db">, tenantId: number, id: number): Promise<ApiKeyRow> {
  return found(await runOne(deps.db.pool, findApiKey, [tenantId, id]), id);
}

/**
 * Creates a key and returns its secret, which is shown here alone: the database holds only its digest (spec 000 §5.5). Of two concurrent
 * creations only one can take the last place of the quota.
 */
export async function createKey(deps: ApiKeyDeps, actor: Actor, input: ApiKeyInput): Promise<ApiKeyRow & { apiKey: string }> {
  const at = deps.now();
  checkExpiry(input.expiresAt, at);
  const id = await deps.ids.next(actor.tenantId, "api-key");
  const apiKey = formatDeviceApiKey(id, randomBytes(32));
  const values = newApiKeyValues({
    tenantId: actor.tenantId,
    id,
    name: input.name,
    description: input.description ?? null,
    digest: digest(apiKey),
    expiresAt: new Date(input.expiresAt),
    at: new Date(at),
    actor: actor.subject,
  });
  const row = await inTransaction(deps.db.pool, async (tx) => {
    await runOne(tx, lockTenantForKey, [actor.tenantId]);
    return runOne(tx, insertApiKey, values);
  });
  if (row === undefined) {
    const { DSI_API_KEYS_MAX_COUNT: limit } = await limitsOf(deps.db.pool, actor.tenantId);
    throw quotaExceeded({ n: 1, of: "ApiKey", owner: "Tenant", limit });
  }
  return { ...row, apiKey };
}

/** Replaces the description: null removes it, undefined leaves it. Nothing else of a key can be changed (spec 000 §4.3). */
export async function describeKey(
  deps: Pick<ApiKeyDeps, "db">,
  { tenantId, subject }: Actor,
  { id, description, ifMatch }: { id: number; description: string | null | undefined; ifMatch?: IfMatch },
): Promise<ApiKeyRow> {
  if (description === undefined) {
    const key = await getKey(deps, tenantId, id);
    requireRevision(ifMatch, key);
    return key;
  }
  const row = await runOne(deps.db.pool, updateApiKey, [tenantId, id, description, subject, ifMatch ?? null]);
  if (row === undefined) throw await missed(deps, { tenantId, id, ifMatch });
  return row;
}

/** Revokes a key: every gateway learns of it from the feed of credential changes (spec 000 §5.5). */
export async function revokeKey(
  deps: Pick<ApiKeyDeps, "db">,
  { tenantId }: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  const gone = await runCount(deps.db.pool, deleteApiKey, [tenantId, id, ifMatch ?? null]);
  if (gone === 0) throw await missed(deps, { tenantId, id, ifMatch });
}

const missed = ({ db }: Pick<ApiKeyDeps, "db">, { tenantId, id, ifMatch }: { tenantId: number; id: number; ifMatch: IfMatch }) =>
  unmatched(ifMatch, entityNotFound("ApiKey", id), () => runOne(db.pool, findApiKey, [tenantId, id]));

function checkExpiry(expiresAt: number, at: number): void {
  if (expiresAt <= at) throw new HarrierError("constraintViolation", "expiresAt must lie in the future.");
  if (expiresAt > at + maxLifeMs) throw new HarrierError("constraintViolation", "expiresAt must lie within 365 days.");
}

function found(row: ApiKeyRow | undefined, id: number): ApiKeyRow {
  if (row === undefined) throw entityNotFound("ApiKey", id);
  return row;
}
