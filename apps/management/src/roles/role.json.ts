import type { RoleView } from "@harrier/contracts";
import { auditOf, type View } from "@harrier/query";
import { permissionsOf } from "../grants/grants.ts";
import type { RoleRow } from "./roles.sql.ts";
import { grantsOfRole } from "./roles.ts";

/** Renders a role (spec 001 §2.8); compact items of a list leave the permissions out (contract management.md §1.4). */
export function roleJson({ base }: View, row: RoleRow, full: boolean): RoleView {
  const self = `${base}/roles/${row.id}`;
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    ...(full ? { permissions: permissionsOf(grantsOfRole(row)) } : {}),
    _links: { self: { href: self }, permissions: { href: `${self}/permissions` } },
  };
}
