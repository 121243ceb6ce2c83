import { type Queryable, runCount } from "@harrier/db";
import type { NoteApiKeyUsesRequest, NoteApiKeyUsesResponse } from "@harrier/rpc";
import { recordApiKeyUses } from "./api-keys.sql.ts";

/**
 * Records the last day of use of each key, which gateways send in batches (spec 000 §4.3, `lastUsedOn`). A day that is earlier than the
 * stored one changes nothing, nor does a key that has been deleted.
 */
export async function recordUses(deps: { db: Queryable }, { uses }: NoteApiKeyUsesRequest): Promise<NoteApiKeyUsesResponse> {
  if (uses.length === 0) return {};
  const [tenantIds, ids, days] = [uses.map((use) => use.tenantId), uses.map((use) => use.keyId), uses.map((use) => use.day)];
  await runCount(deps.db, recordApiKeyUses, [tenantIds, ids, days]);
  return {};
}
