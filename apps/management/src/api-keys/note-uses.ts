import { type Queryable, runCount } from "@harrier/db";
import type { NoteApiKeyUsesRequest, NoteApiKeyUsesResponse } from "@harrier/rpc";
import { noteApiKeyUses } from "./api-keys.sql.ts";

/**
 * Keeps the last day on which each key let somebody in, as gateways tell it in batches (spec 000 §4.3, `lastUsedOn`). An earlier day than
 * the one known changes nothing, nor does a key that is gone by now.
 */
export async function noteUses(deps: { db: Queryable }, { uses }: NoteApiKeyUsesRequest): Promise<NoteApiKeyUsesResponse> {
  if (uses.length === 0) return {};
  const [tenantIds, ids, days] = [uses.map((use) => use.tenantId), uses.map((use) => use.keyId), uses.map((use) => use.day)];
  await runCount(deps.db, noteApiKeyUses, [tenantIds, ids, days]);
  return {};
}
