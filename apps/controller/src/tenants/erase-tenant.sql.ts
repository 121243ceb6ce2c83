import { statement } from "@harrier/db";

/** Whether a tenant is on its way out; its rows are erased in no other state. */
export const isBeingDeleted = statement<[tenantId: number], { deleting: boolean }>(
  "controller.is_being_deleted",
  "select status = 'deleting' as deleting from management.tenants_v1 where tenant_id = $1",
);

/** After the last of its targets. */
export const forgetCounts = statement<[tenantId: number], never>(
  "controller.forget_target_counts",
  "delete from target_counts where tenant_id = $1",
);
