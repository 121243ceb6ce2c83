import { isQuotaKey, type QuotaKey, quotaDefaults, quotaKeys } from "@harrier/contracts";
import { type Database, type Queryable, run } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { AuditRow } from "@harrier/query";
import { revisionOfContent } from "@harrier/service";
import { type QuotaRow, readQuotas } from "./used.sql.ts";

export interface QuotaDeps {
  db: Database;
}

/** This is one quota as it is in force; without `audit` the default applies. */
export interface Quota {
  key: QuotaKey;
  limit: number;
  used: number;
  audit: AuditRow | undefined;
}

/** Lists all quotas of a tenant (spec 001 §4.7; contract management.md §10.3). */
export async function listQuotas(deps: QuotaDeps, tenantId: number): Promise<Quota[]> {
  return (await run(deps.db.pool, readQuotas, [tenantId, quotaKeys])).map(toQuota);
}

/** Returns one quota; an unknown key is answered by 404. */
export async function getQuota(deps: { db: { pool: Queryable } }, tenantId: number, key: string): Promise<Quota> {
  const [row] = isQuotaKey(key) ? await run(deps.db.pool, readQuotas, [tenantId, [key]]) : [];
  if (row === undefined) throw entityNotFound("Quota", key);
  return toQuota(row);
}

function toQuota({ key, used, limit, ...audit }: QuotaRow): Quota {
  const known = key as QuotaKey;
  return { key: known, limit: limit ?? quotaDefaults[known], used, audit: limit === null ? undefined : (audit as AuditRow) };
}

/** Stands for the revision of a limit; what is used of it is nothing that an edit overwrites. */
export function revisionOfQuota({ limit, audit }: Quota): number {
  return revisionOfContent(limit, audit?.lastModifiedAt);
}
