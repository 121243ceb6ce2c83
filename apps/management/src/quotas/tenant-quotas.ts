import { isQuotaKey, isQuotaLimit } from "@harrier/contracts";
import { runCount } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision } from "@harrier/query";
import { changeTenant, type Operator } from "../tenants/tenants.ts";
import { writeLimit } from "./limits.sql.ts";
import { getQuota, type Quota, type QuotaDeps, revisionOfQuota } from "./quotas.ts";

export interface NewLimit {
  /** This is the tenant's name, in any spelling. */
  tenant: string;
  key: string;
  /** This is the limit; 0 or less means that there is none. */
  limit: number;
  /** The revisions of which the quota must have one. */
  ifMatch?: IfMatch;
}

/** This is a quota with the name of its tenant. */
export interface QuotaOf {
  tenant: string;
  quota: Quota;
}

/**
 * Sets the limit of a tenant (contract extensions.md, "Quotas, set"). Management reads it in the statements that it bounds; the other
 * services see it within a second. A limit below what the tenant uses removes nothing, but nothing can be added any more.
 */
export async function setQuota(deps: QuotaDeps, operator: Operator, { tenant, key, limit, ifMatch }: NewLimit): Promise<QuotaOf> {
  const { name, tenantId } = await changeTenant(deps.db, tenant, async (tx, row) => {
    if (!isQuotaKey(key)) throw entityNotFound("Quota", key);
    if (!isQuotaLimit(key, limit)) throw new HarrierError("constraintViolation", `limit must fit into 32 bits: ${key} counts no bytes.`);
    // the tenant is locked, so the limit stays as it is read here
    if (ifMatch !== undefined)
      requireRevision(ifMatch, { revision: revisionOfQuota(await getQuota({ db: { pool: tx } }, row.tenantId, key)) });
    await runCount(tx, writeLimit, [row.tenantId, key, limit, operator.subject]);
    return row;
  });
  return { tenant: name, quota: await getQuota(deps, tenantId, key) };
}
