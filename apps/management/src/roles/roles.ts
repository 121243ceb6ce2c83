import type { RoleCreate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { IfMatch } from "@harrier/query";
import { checkGrants, type Granter, lockHolder } from "../grants/change-grants.ts";
import { type Grants, merged, replaced } from "../grants/grants.ts";
import { tenantPermissions } from "../identity/permissions.ts";
import { takeIds } from "../lists/ids.ts";
import { deleteRole, findRole, findRolesByName, insertRoles, type RoleRow } from "./roles.sql.ts";

export interface RoleDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** Returns one role (spec 001 §4.7). */
export async function getRole(deps: Pick<RoleDeps, "db">, tenantId: number, id: number): Promise<RoleRow> {
  const row = await runOne(deps.db.pool, findRole, [tenantId, id]);
  if (row === undefined) throw entityNotFound("Role", id);
  return row;
}

/** Returns what a role allows; the predefined one allows everything that this version knows (contract extensions.md). */
export function grantsOfRole(row: Pick<RoleRow, "permissions" | "scoped" | "systemManaged">): Grants {
  return row.systemManaged ? { permissions: tenantPermissions, scoped: {} } : { permissions: row.permissions, scoped: row.scoped };
}

/** Returns what roles of the tenant allow together; names that are no role allow nothing (spec 000 §5.1). */
export async function grantsOfRoles(deps: { db: Queryable }, tenantId: number, names: readonly string[]): Promise<Grants> {
  return merged((await run(deps.db, findRolesByName, [tenantId, names])).map(grantsOfRole));
}

/** Creates all roles or none (contract management.md §10.2). */
export async function createRoles(deps: RoleDeps, granter: Granter, roles: readonly RoleCreate[]): Promise<RoleRow[]> {
  if (roles.length === 0) return [];
  const grants = roles.map((role) => replaced(role.permissions));
  await checkGrants(deps.db.pool, granter, { next: merged(grants) });
  const ids = await takeIds(deps.ids, granter.tenantId, "role", roles.length);
  const rows = roles.map(({ name }, i) => ({ id: ids[i], name, ...grants[i] }));
  return run(deps.db.pool, insertRoles, [granter.tenantId, JSON.stringify(rows), granter.subject]);
}

/** Deletes a role. The predefined role cannot be deleted, nor can one that allows more than the caller may do; the same is true of changes. */
export async function removeRole(
  deps: Pick<RoleDeps, "db">,
  caller: Granter,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    const { systemManaged } = await lockHolder(tx, caller, { holder: "roles", id, ifMatch });
    if (systemManaged) throw new HarrierError("entityReadOnly", "The predefined role cannot be deleted.");
    await runCount(tx, deleteRole, [caller.tenantId, id]);
  });
}
