import { type PermissionInfoView, type PermissionRow, permissions, permissionTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";

const listed: PermissionInfoView[] = Object.entries<PermissionRow>(permissionTable).map(([name, row]) => ({
  name,
  area: row.area,
  text: row.text,
  targetRelated: row.targetRelated === true,
  implies: [...(row.implies ?? [])],
}));

/** Serves the names of the permissions with what they allow (contract console.md §3); nothing is read for it. */
export function mountPermissions(mount: Mount): void {
  mount(permissions.list, () => ({ body: listed }));
}
