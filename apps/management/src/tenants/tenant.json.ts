import type { TenantView } from "@harrier/contracts";
import { auditOf, optional, type View } from "../lists/json.ts";
import type { TenantRow } from "./tenants.sql.ts";

/** contract extensions.md, tenants; the id is nobody's business. */
export function tenantJson({ base }: Pick<View, "base">, row: TenantRow): TenantView {
  return {
    ...auditOf(row),
    name: row.name,
    ...optional("description", row.description),
    status: row.status,
    _links: { self: { href: `${base}/system/tenants/${row.name}` } },
  };
}
