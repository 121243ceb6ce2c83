import { statement } from "@harrier/db";
import type { Columns } from "@harrier/query";

/** These kinds of holders can have permissions. */
export type Holder = "users" | "roles";

export interface GrantsRow {
  permissions: string[];
  scoped: Record<string, number[]>;
  systemManaged: boolean;
  revision: number;
}

/** These are columns of a user or a role `t`. */
export const grantColumns: Columns = {
  permissions: "t.permissions",
  scoped: "t.scoped_permissions",
  systemManaged: "t.system_managed",
  revision: "t.revision",
};

const lock = (holder: Holder) =>
  statement<[tenantId: number, id: number], GrantsRow>(
    `management.lock_grants_of_${holder}`,
    `select t.permissions, t.scoped_permissions as scoped, t.system_managed as "systemManaged", t.revision
       from ${holder} t where t.tenant_id = $1 and t.id = $2 for update`,
  );

/** Locks a holder, because its new grants are computed from the stored ones. */
export const lockGrants = { users: lock("users"), roles: lock("roles") };

// The id 0 stands for all users of the tenant, but for none of its devices (views/tenants.sql).
const forgotten = { users: "id", roles: "0" };

const write = (holder: Holder) =>
  statement<[tenantId: number, id: number, permissions: readonly string[], scoped: string, actor: string], unknown>(
    `management.write_grants_of_${holder}`,
    `with written as (
       update ${holder} set permissions = $3, scoped_permissions = $4, last_modified_by = $5, last_modified_at = now(), revision = revision + 1
        where tenant_id = $1 and id = $2 returning id)
     insert into credential_changes (tenant_id, user_id) select $1, ${forgotten[holder]} from written`,
  );

/** Writes the new grants; gateways forget the old ones in the same transaction. */
export const writeGrants = { users: write("users"), roles: write("roles") };

/** Returns the requested target types that do not exist. */
export const unknownTargetTypes = statement<[tenantId: number, ids: readonly number[]], { id: number }>(
  "management.unknown_target_types",
  `select g.id from unnest($2::bigint[]) as g(id)
    where not exists (select from target_types y where y.tenant_id = $1 and y.id = g.id) order by g.id`,
);
