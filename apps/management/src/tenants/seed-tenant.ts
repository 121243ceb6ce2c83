import { type Queryable, run, runOne } from "@harrier/db";
import { findTenant, insertTenant } from "./seed-tenant.sql.ts";

/** This is the first tenant of an installation (contract management.md §5.10). */
const firstTenantId = 1;

/** Creates the default tenant with its types where it does not exist yet, and returns it. It is idempotent. */
export async function ensureDefaultTenant(deps: { db: Queryable }, name: string): Promise<{ tenantId: number; name: string }> {
  await run(deps.db, insertTenant, [firstTenantId, name]);
  const tenant = await runOne(deps.db, findTenant, [name]);
  if (tenant === undefined) throw new Error(`tenant ${firstTenantId} exists under another name than ${name} (HARRIER_DEFAULT_TENANT)`);
  return tenant;
}
