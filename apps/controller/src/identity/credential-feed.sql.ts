import { statement } from "@harrier/db";

export const readTenantNames = statement<[tenantIds: number[]], { tenantId: number; name: string }>(
  "controller.read_tenant_names",
  `select tenant_id as "tenantId", name from management.tenants_v1 where tenant_id = any ($1::int[])`,
);
