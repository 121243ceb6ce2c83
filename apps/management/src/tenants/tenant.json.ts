import type { TenantView } from "@harrier/contracts";
import { auditOf, optional, type View } from "@harrier/query";
import type { TenantRow } from "./tenants.sql.ts";

/** Renders a tenant (contract extensions.md, tenants); the id is internal. */
export function tenantJson({ base }: Pick<View, "base">, row: TenantRow): TenantView {
  return {
    ...auditOf(row),
    name: row.name,
    ...optional("description", row.description),
    status: row.status,
    _links: { self: { href: `${base}/system/tenants/${row.name}` } },
  };
}
