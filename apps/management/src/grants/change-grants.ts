import { type Database, inTransaction, type Queryable, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { checkCovers, type HeldGrants } from "./covers.ts";
import { type GrantsRow, type Holder, lockGrants, unknownTargetTypes, writeGrants } from "./grants.sql.ts";
import { type Grants, noGrants } from "./grants.ts";

/** This is the user who changes grants. */
export type Granter = HeldGrants & Pick<Principal, "tenantId" | "subject">;

const entities = { users: "User", roles: "Role" } as const;

/**
 * Changes the permissions of a user or a role (spec 001 §4.7) and returns what it holds then. A holder that belongs to the system (the
 * configuration's administrator, the predefined role) stays as it is.
 */
export async function changeGrants(
  deps: { db: Database },
  granter: Granter,
  { holder, id, ifMatch }: { holder: Holder; id: number; ifMatch?: IfMatch },
  change: (held: Grants) => Grants,
): Promise<Grants> {
  const { tenantId, subject } = granter;
  return inTransaction(deps.db.pool, async (tx) => {
    const row = await runOne(tx, lockGrants[holder], [tenantId, id]);
    if (row === undefined) throw entityNotFound(entities[holder], id);
    if (row.systemManaged) throw new HarrierError("entityReadOnly");
    const next = change(row);
    await checkGrants(tx, granter, { held: row, next });
    requireRevision(ifMatch, row);
    await runCount(tx, writeGrants[holder], [tenantId, id, next.permissions, JSON.stringify(next.scoped), subject]);
    return next;
  });
}

/**
 * Locks a user or role that shall be deleted and that holds no more than the caller. A holder that belongs to the system is returned as it
 * is. @throws entityNotFound, insufficientPermission, entityChanged
 */
export async function lockHolder(
  tx: Queryable,
  caller: Granter,
  { holder, id, ifMatch }: { holder: Holder; id: number; ifMatch?: IfMatch },
): Promise<GrantsRow> {
  const row = await runOne(tx, lockGrants[holder], [caller.tenantId, id]);
  if (row === undefined) throw entityNotFound(entities[holder], id);
  if (!row.systemManaged) {
    checkCovers(caller, row);
    requireRevision(ifMatch, row);
  }
  return row;
}

/**
 * Checks a change of grants. A user who changes grants must hold all of them, before and after: they can neither grant more than they hold,
 * nor lift a restriction of their own, nor take a grant from a user who holds more. The target types must exist.
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
