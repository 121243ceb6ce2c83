import type { UserCreate } from "@harrier/contracts";
import { type Database, type IdBlocks, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Identity } from "@harrier/rpc";
import { checkGrants, type Granter } from "../grants/change-grants.ts";
import { noGrants, withNames } from "../grants/grants.ts";
import { systemPermission } from "../identity/permissions.ts";
import { takeIds } from "../lists/ids.ts";
import { hashPassword, isSupportedHash } from "./password.ts";
import { deleteUser, findUserById, insertUsers, type UserRow, writePassword } from "./users.sql.ts";

export interface UserDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** Each password costs about 50 ms and 16 MB. */
const mostPasswords = 100;

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
  const everything = withNames(noGrants, [...new Set(users.flatMap((user) => user.permissions))]);
  await checkGrants(deps.db.pool, granter, { next: everything });
  const hashes = await Promise.all(users.map((user) => (user.password === undefined ? user.passwordHash : hashPassword(user.password))));
  const ids = await takeIds(deps.ids, granter.tenantId, "user", users.length);
  const rows = users.map(({ name, permissions }, i) => {
    const hash = hashes[i] ?? null;
    return { id: ids[i], name, type: hash === null ? "EXTERNAL_USER" : "PASSWORD_USER", hash, permissions };
  });
  return run(deps.db.pool, insertUsers, [granter.tenantId, JSON.stringify(rows), granter.subject]);
}

/** Deletes a user, but not the system's nor the caller's own (contract management.md §10.1): somebody must be left to make others. */
export async function removeUser(deps: Pick<UserDeps, "db">, caller: Granter, id: number): Promise<void> {
  const operator = caller.permissions.includes(systemPermission);
  const row = await runOne(deps.db.pool, deleteUser, [caller.tenantId, id, caller.subject, operator]);
  if (row === undefined) throw entityNotFound("User", id);
  if (row.readOnly) throw new HarrierError("entityReadOnly", "The system's own user and one's own account cannot be deleted.");
  if (!row.deleted) throw new HarrierError("insufficientPermission");
}

/**
 * A new password: one's own, or with USER_MANAGEMENT anybody's (contract management.md §10.1), but nobody becomes an operator by changing
 * the password of one.
 */
export async function changePassword(
  deps: Pick<UserDeps, "db">,
  caller: Pick<Identity, "tenantId" | "subject" | "external" | "permissions">,
  { id, newPassword }: { id: number; newPassword: string },
): Promise<void> {
  const { tenantId, subject, permissions } = caller;
  const row = await runOne(deps.db.pool, findUserById, [tenantId, id]);
  // a token's user may have the name of one with a password and be another
  const own = row?.name === subject && caller.external !== true;
  // before anything else: who may not change it does not learn either whether it is there
  if (!own && !permissions.includes("USER_MANAGEMENT")) throw new HarrierError("insufficientPermission");
  if (row === undefined) throw entityNotFound("User", id);
  const ofOperatorsToo = own || permissions.includes(systemPermission);
  if (row.permissions.includes(systemPermission) && !ofOperatorsToo) throw new HarrierError("insufficientPermission");
  if (row.systemManaged) throw new HarrierError("entityReadOnly", "The password of this user is set by the configuration.");
  if (row.type !== "PASSWORD_USER") throw new HarrierError("constraintViolation", "This user signs in at the identity provider.");
  const written = await runCount(deps.db.pool, writePassword, [tenantId, id, await hashPassword(newPassword), subject, ofOperatorsToo]);
  if (written === 0) throw entityNotFound("User", id);
}
