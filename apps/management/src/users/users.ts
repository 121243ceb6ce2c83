import type { UserCreate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import { type IfMatch, requireRevision, unmatched } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { checkGrants, type Granter, lockHolder } from "../grants/change-grants.ts";
import { checkCovers } from "../grants/covers.ts";
import { noGrants, withNames } from "../grants/grants.ts";
import { takeIds } from "../lists/ids.ts";
import { checkSignIns } from "./new-sign-ins.ts";
import { hashPassword } from "./password.ts";
import { deleteUser, findUserById, insertUsers, type UserRow, writePassword } from "./users.sql.ts";
import { checkPassword } from "./weak-passwords.ts";

export interface UserDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** The number is limited because each password costs about a quarter of a second of a processor. */
const maxPasswords = 20;

/** Returns one user (spec 001 §4.7). */
export async function getUser(deps: Pick<UserDeps, "db">, tenantId: number, id: number): Promise<UserRow> {
  const row = await runOne(deps.db.pool, findUserById, [tenantId, id]);
  if (row === undefined) throw entityNotFound("User", id);
  return row;
}

/** Creates all users or none (contract management.md §10.1). A user without a password or its hash signs in at the identity provider. */
export async function createUsers(deps: UserDeps, granter: Granter, users: readonly UserCreate[]): Promise<UserRow[]> {
  if (users.length === 0) return [];
  if (users.filter((user) => user.password !== undefined).length > maxPasswords) {
    throw new HarrierError("quotaTooManyEntries", `A request makes ${maxPasswords} users with a password at most.`);
  }
  checkSignIns(users);
  const everything = withNames(noGrants, [...new Set(users.flatMap((user) => user.permissions))]);
  await checkGrants(deps.db.pool, granter, { next: everything });
  const hashes: (string | undefined)[] = [];
  // The passwords are hashed one after another: a request keeps one thread busy, and others can sign in meanwhile.
  for (const user of users) hashes.push(user.password === undefined ? user.passwordHash : await hashPassword(user.password));
  const ids = await takeIds(deps.ids, granter.tenantId, "user", users.length);
  const rows = users.map(({ name, permissions }, i) => {
    const hash = hashes[i] ?? null;
    return { id: ids[i], name, type: hash === null ? "EXTERNAL_USER" : "PASSWORD_USER", hash, permissions };
  });
  return run(deps.db.pool, insertUsers, [granter.tenantId, JSON.stringify(rows), granter.subject]);
}

/**
 * Deletes a user, but not the system's nor the caller's own (contract management.md §10.1): a user must remain who can create others. A
 * user who holds more than the caller cannot be deleted either.
 */
export async function removeUser(
  deps: Pick<UserDeps, "db">,
  caller: Granter,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  const { tenantId, subject } = caller;
  await inTransaction(deps.db.pool, async (tx) => {
    await lockHolder(tx, caller, { holder: "users", id, ifMatch });
    if ((await runCount(tx, deleteUser, [tenantId, id, subject])) > 0) return;
    throw new HarrierError("entityReadOnly", "The system's own user and one's own account cannot be deleted.");
  });
}

/**
 * Sets a new password: one's own, or with USER_MANAGEMENT that of any user (contract management.md §10.1) who holds no more than the
 * caller, because the caller could sign in with it.
 */
export async function changePassword(
  deps: Pick<UserDeps, "db">,
  caller: Pick<Identity, "tenantId" | "subject" | "external" | "permissions" | "targetTypeScopes">,
  { id, newPassword, ifMatch }: { id: number; newPassword: string; ifMatch?: IfMatch },
): Promise<void> {
  const { tenantId, subject, permissions } = caller;
  const row = await runOne(deps.db.pool, findUserById, [tenantId, id]);
  // The user of a token may have the same name as a user with a password, and still be another one.
  const own = row?.name === subject && caller.external !== true;
  // This check comes first, so that a caller without the permission does not learn whether the user exists.
  if (!own && !permissions.includes("USER_MANAGEMENT")) throw lacksPermission(["USER_MANAGEMENT"]);
  if (row === undefined) throw entityNotFound("User", id);
  if (!own && !row.systemManaged) checkCovers(caller, row);
  if (row.systemManaged) throw new HarrierError("entityReadOnly", "The password of this user is set by the configuration.");
  if (row.type !== "PASSWORD_USER") throw new HarrierError("constraintViolation", "This user signs in at the identity provider.");
  requireRevision(ifMatch, row);
  checkPassword(newPassword, row.name);
  const hash = await hashPassword(newPassword);
  // The checked grants are those that the password gives access to: a user who was granted more meanwhile keeps the old password.
  const seen = own ? null : row;
  const scoped = seen === null ? null : JSON.stringify(seen.scoped);
  const values = [tenantId, id, hash, subject, seen?.permissions ?? null, scoped, ifMatch ?? null] as const;
  if ((await runCount(deps.db.pool, writePassword, [...values])) > 0) return;
  throw await unmatched(ifMatch, new HarrierError("concurrentModification"), () => runOne(deps.db.pool, findUserById, [tenantId, id]));
}
