import { type Database, inTransaction, type Queryable, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { checkCovers, type Held } from "./covers.ts";
import { type GrantsRow, type Holder, lockGrants, unknownTargetTypes, writeGrants } from "./grants.sql.ts";
import { type Grants, noGrants } from "./grants.ts";

/** Who grants. */
export type Granter = Held & Pick<Principal, "tenantId" | "subject">;

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

/**
 * Locks who is to be deleted: somebody who may do no more than the caller. What belongs to the system is answered as it is.
 * @throws entityNotFound, insufficientPermission
 */
export async function lockHolder(tx: Queryable, caller: Granter, { holder, id }: { holder: Holder; id: number }): Promise<GrantsRow> {
  const row = await runOne(tx, lockGrants[holder], [caller.tenantId, id]);
  if (row === undefined) throw entityNotFound(entities[holder], id);
  if (!row.systemManaged) checkCovers(caller, row);
  return row;
}

/**
 * Whoever changes what somebody holds, holds all of it itself, before and after: nobody gives on what it has not, lifts a restriction that it has too,
 * or takes away from one who may do more. And target types must be there.
 */
export async function checkGrants(
  db: Queryable,
  granter: Granter,
  { held = noGrants, next }: { held?: Grants; next: Grants },
): Promise<void> {
  checkCovers(granter, held);
  checkCovers(granter, next);
  const before = new Set(Object.values(held.scoped).flat());
  const added = [...new Set(Object.values(next.scoped).flat())].filter((id) => !before.has(id));
  if (added.length === 0) return;
  const unknown = await runOne(db, unknownTargetTypes, [granter.tenantId, added]);
  if (unknown !== undefined) throw entityNotFound("TargetType", unknown.id);
}
