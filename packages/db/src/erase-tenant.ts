import { HarrierError } from "@harrier/errors";
import { type Queryable, runOne, statement } from "./statement.ts";
import { countTenantRows, deleteTenantRows, type TenantRows } from "./tenant-rows.ts";

/** One call deletes for so long: well within the caller's deadline, and short enough to show progress. */
export const eraseSliceMs = 2_000;

const isBeingDeleted = statement<[tenantId: number], { deleting: boolean }>(
  "tenants.is_being_deleted",
  "select status = 'deleting' as deleting from management.tenants_v1 where tenant_id = $1",
);

/** Refuses unless the tenant is being deleted, so that no other tenant loses anything, whatever the call. */
export async function checkBeingDeleted(db: Queryable, tenantId: number): Promise<void> {
  const tenant = await runOne(db, isBeingDeleted, [tenantId]);
  if (tenant?.deleting !== true) throw new HarrierError("constraintViolation", "The tenant is not being deleted.");
}

/** Deletes a part of a tenant's rows in a service's schema (contract extensions.md). The caller repeats it until nothing is left. */
export async function eraseTenantRows(which: TenantRows, { countOnly }: { countOnly: boolean }): Promise<{ rows: number; done: boolean }> {
  await checkBeingDeleted(which.pool, which.tenantId);
  if (countOnly) return { rows: await countTenantRows(which), done: false };
  const { deleted, done } = await deleteTenantRows({ ...which, untilMs: Date.now() + eraseSliceMs });
  return { rows: deleted, done };
}
