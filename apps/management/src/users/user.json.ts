import type { UserView } from "@harrier/contracts";
import { auditOf, type View } from "@harrier/query";
import { namesOf } from "../grants/grants.ts";
import type { UserRow } from "./users.sql.ts";

/** Renders a user (spec 001 §2.8); compact items of a list leave the permissions out (contract management.md §1.4). */
export function userJson({ base }: View, row: UserRow, full: boolean): UserView {
  const self = `${base}/users/${row.id}`;
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    type: row.type,
    systemManaged: row.systemManaged,
    ...(full ? { permissions: namesOf(row) } : {}),
    _links: { self: { href: self }, permissions: { href: `${self}/permissions` } },
  };
}
