import { statement } from "@harrier/db";

/** It runs after the last of the tenant's targets is deleted. */
export const forgetCounts = statement<[tenantId: number], never>(
  "controller.forget_target_counts",
  "delete from target_counts where tenant_id = $1",
);
