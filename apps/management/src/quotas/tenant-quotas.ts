import { isQuotaKey, isQuotaLimit } from "@harrier/contracts";
import { runCount } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { changeTenant, type Operator } from "../tenants/tenants.ts";
import { writeLimit } from "./limits.sql.ts";
import { getQuota, type Quota, type QuotaDeps } from "./quotas.ts";

export interface NewLimit {
  /** The tenant's name, in any spelling. */
  tenant: string;
  key: string;
  /** 0 or less: none. */
  limit: number;
}

/** A quota with the name of the tenant that it is of. */
export interface QuotaOf {
  tenant: string;
  quota: Quota;
}

/**
 * Sets the limit of a tenant (contract extensions.md, "Quotas, set"). management asks for it in the statements that it bounds; the other
 * services see it within a second. One below what is there takes nothing away: it stops what is added.
 */
export async function setQuota(deps: QuotaDeps, operator: Operator, { tenant, key, limit }: NewLimit): Promise<QuotaOf> {
  const { name, tenantId } = await changeTenant(deps.db, tenant, async (tx, row) => {
    if (!isQuotaKey(key)) throw entityNotFound("Quota", key);
    if (!isQuotaLimit(key, limit)) throw new HarrierError("constraintViolation", `limit must fit into 32 bits: ${key} counts no bytes.`);
    await runCount(tx, writeLimit, [row.tenantId, key, limit, operator.subject]);
    return row;
  });
  return { tenant: name, quota: await getQuota(deps, tenantId, key) };
}
