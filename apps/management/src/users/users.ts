import type { UserCreate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import type { Identity } from "@harrier/rpc";
import { checkGrants, type Granter, lockHolder } from "../grants/change-grants.ts";
import { checkCovers } from "../grants/covers.ts";
import { noGrants, withNames } from "../grants/grants.ts";
import { takeIds } from "../lists/ids.ts";
import { hashPassword, isSupportedHash } from "./password.ts";
import { deleteUser, findUserById, insertUsers, type UserRow, writePassword } from "./users.sql.ts";
import { checkPassword } from "./weak-passwords.ts";

export interface UserDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** Each password costs about a quarter of a second of a processor. */
const mostPasswords = 20;

/** One user (spec 001 §4.7). */
export async function getUser(deps: Pick<UserDeps, "db">, tenantId: number, id: number): Promise<UserRow> {
  const row = await runOne(deps.db.pool, findUserById, [tenantId, id]);
  if (row === undefined) throw entityNotFound("User", id);
  return row;
}

/** Creates all users or none (contract management.md §10.1). Without a password or its hash a user is the identity provider's. */
export async function createUsers(deps: UserDeps, granter: Granter, users: readonly UserCreate[]): Promise<UserRow[]> {
  if (users.length === 0) return [];
  if (users.filter((user) => user.password !== undefined).length > mostPasswords) {
    throw new HarrierError("quotaTooManyEntries", `A request makes ${mostPasswords} users with a password at most.`);
  }
  if (!users.every((user) => user.passwordHash === undefined || isSupportedHash(user.passwordHash))) {
    throw new HarrierError(
      "constraintViolation",
      "passwordHash must be a PHC string of argon2id or scrypt, or one of bcrypt, with usual costs.",
    );
  }
  for (const { name, password } of users) if (password !== undefined) checkPassword(password, name);
  const everything = withNames(noGrants, [...new Set(users.flatMap((user) => user.permissions))]);
  await checkGrants(deps.db.pool, granter, { next: everything });
  const hashes: (string | undefined)[] = [];
  // one after another: a request keeps one thread busy, and others can sign in meanwhile
  for (const user of users) hashes.push(user.password === undefined ? user.passwordHash : await hashPassword(user.password));
  const ids = await takeIds(deps.ids, granter.tenantId, "user", users.length);
  const rows = users.map(({ name, permissions }, i) => {
    const hash = hashes[i] ?? null;
    return { id: ids[i], name, type: hash === null ? "EXTERNAL_USER" : "PASSWORD_USER", hash, permissions };
  });
  return run(deps.db.pool, insertUsers, [granter.tenantId, JSON.stringify(rows), granter.subject]);
}

/**
 * Deletes a user, but not the system's nor the caller's own (contract management.md §10.1): somebody must be left to make others. Nor one who may do
 * more than the caller.
 */
export async function removeUser(deps: Pick<UserDeps, "db">, caller: Granter, id: number): Promise<void> {
  const { tenantId, subject } = caller;
  await inTransaction(deps.db.pool, async (tx) => {
    await lockHolder(tx, caller, { holder: "users", id });
    if ((await runCount(tx, deleteUser, [tenantId, id, subject])) > 0) return;
    throw new HarrierError("entityReadOnly", "The system's own user and one's own account cannot be deleted.");
  });
}

/**
 * A new password: one's own, or with USER_MANAGEMENT that of anybody (contract management.md §10.1) who may do no more than the caller, since whoever
 * sets a password can sign in with it.
 */
export async function changePassword(
  deps: Pick<UserDeps, "db">,
  caller: Pick<Identity, "tenantId" | "subject" | "external" | "permissions" | "targetTypeScopes">,
  { id, newPassword }: { id: number; newPassword: string },
): Promise<void> {
  const { tenantId, subject, permissions } = caller;
  const row = await runOne(deps.db.pool, findUserById, [tenantId, id]);
  // a token's user may have the name of one with a password and be another
  const own = row?.name === subject && caller.external !== true;
  // before anything else: who may not change it does not learn either whether it is there
  if (!own && !permissions.includes("USER_MANAGEMENT")) throw lacksPermission(["USER_MANAGEMENT"]);
  if (row === undefined) throw entityNotFound("User", id);
  if (!own && !row.systemManaged) checkCovers(caller, row);
  if (row.systemManaged) throw new HarrierError("entityReadOnly", "The password of this user is set by the configuration.");
  if (row.type !== "PASSWORD_USER") throw new HarrierError("constraintViolation", "This user signs in at the identity provider.");
  checkPassword(newPassword, row.name);
  const hash = await hashPassword(newPassword);
  // what was looked at is what the password opens: who was given more meanwhile keeps the old one
  const seen = own ? null : row;
  const values = [tenantId, id, hash, subject, seen?.permissions ?? null, seen === null ? null : JSON.stringify(seen.scoped)] as const;
  if ((await runCount(deps.db.pool, writePassword, [...values])) === 0) throw new HarrierError("concurrentModification");
}
