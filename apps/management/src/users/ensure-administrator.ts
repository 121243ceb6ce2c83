import { type IdBlocks, type Queryable, runCount, runOne } from "@harrier/db";
import { allPermissions } from "../identity/permissions.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import { findSystemUser, upsertSystemUser } from "./users.sql.ts";

interface Deps {
  db: Queryable;
  ids: Pick<IdBlocks, "next">;
}

export interface Administrator {
  tenantId: number;
  name: string;
  password: string;
}

/**
 * Creates the administrator of the configuration, or updates its password and its permissions, which may grow with the version. It writes
 * nothing when nothing changed, so that a restart keeps sign-ins.
 */
export async function ensureAdministrator(deps: Deps, { tenantId, name, password }: Administrator): Promise<void> {
  const stored = await runOne(deps.db, findSystemUser, [tenantId, name]);
  const complete = stored?.systemManaged === true && allPermissions.every((permission) => stored.permissions.includes(permission));
  if (complete && (await verifyPassword(password, stored.passwordHash))) return;
  const id = await deps.ids.next(tenantId, "user");
  await runCount(deps.db, upsertSystemUser, [tenantId, id, name, await hashPassword(password), [...allPermissions]]);
}
