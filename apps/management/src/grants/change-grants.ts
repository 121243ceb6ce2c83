import { type Database, inTransaction, type Queryable, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { systemPermission } from "../identity/permissions.ts";
import { type Holder, lockGrants, unknownTargetTypes, writeGrants } from "./grants.sql.ts";
import { type Grants, namesOf, noGrants } from "./grants.ts";

/** Who grants. */
export type Granter = Pick<Principal, "tenantId" | "subject" | "permissions">;

const entities = { users: "User", roles: "Role" } as const;

/**
 * Changes what a user or a role holds (spec 001 §4.7) and answers what it holds then. What belongs to the system (the configuration's
 * administrator, the predefined role) stays as it is.
 */
export async function changeGrants(
  deps: { db: Database },
  granter: Granter,
  { holder, id }: { holder: Holder; id: number },
  change: (held: Grants) => Grants,
): Promise<Grants> {
  const { tenantId, subject } = granter;
  return inTransaction(deps.db.pool, async (tx) => {
    const row = await runOne(tx, lockGrants[holder], [tenantId, id]);
    if (row === undefined) throw entityNotFound(entities[holder], id);
    if (row.systemManaged) throw new HarrierError("entityReadOnly");
    const next = change(row);
    await checkGrants(tx, granter, { held: row, next });
    await runCount(tx, writeGrants[holder], [tenantId, id, next.permissions, JSON.stringify(next.scoped), subject]);
    return next;
  });
}

/** What holds the operator's permission, before or after, is changed by those alone who hold it too; and target types must be there. */
export async function checkGrants(
  db: Queryable,
  granter: Granter,
  { held = noGrants, next }: { held?: Grants; next: Grants },
): Promise<void> {
  const concernsSystem = [...namesOf(held), ...namesOf(next)].includes(systemPermission);
  if (concernsSystem && !granter.permissions.includes(systemPermission)) throw new HarrierError("insufficientPermission");
  const before = new Set(Object.values(held.scoped).flat());
  const added = [...new Set(Object.values(next.scoped).flat())].filter((id) => !before.has(id));
  if (added.length === 0) return;
  const unknown = await runOne(db, unknownTargetTypes, [granter.tenantId, added]);
  if (unknown !== undefined) throw entityNotFound("TargetType", unknown.id);
}
