import { type Database, run, runCount, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Identity } from "@harrier/rpc";
import { checkCovers, type HeldGrants } from "../grants/covers.ts";
import { type Grants, noGrants } from "../grants/grants.ts";
import { resolveToken } from "../identity/resolve-token.ts";
import type { UserRow } from "../users/users.sql.ts";
import { getUser } from "../users/users.ts";
import { endSessionOf, findScopesOf, listSessionsOf, type OwnSessionRow } from "./sessions.sql.ts";

export interface UserSessionDeps {
  db: Database;
}

type Caller = Pick<Identity, "tenantId" | "subject" | "external" | "issuer">;

/**
 * Whose sessions a caller's are: those by password or those of the caller's issuer, because a name means another person at each. An OAuth client,
 * which is external without an issuer, has none, whatever it is called.
 */
function ownerOf({ tenantId, subject, external, issuer }: Caller): [number, string, string] | undefined {
  if (external === true && issuer === undefined) return undefined;
  return [tenantId, subject, issuer ?? ""];
}

/** Whose sessions a user's are: an account without a password is that of the name at any issuer, as when a token is resolved. */
const ownerOfUser = (tenantId: number, { name, type }: UserRow) => [tenantId, name, type === "PASSWORD_USER" ? "" : null] as const;

/** Returns the caller's own sessions that are not over (contract console.md M22). */
export async function listOwnSessions({ db }: UserSessionDeps, caller: Caller): Promise<OwnSessionRow[]> {
  const owner = ownerOf(caller);
  return owner === undefined ? [] : run(db.pool, listSessionsOf, owner);
}

/** Ends one of the caller's own sessions. @throws entityNotFound if it is over, or not theirs */
export async function endOwnSession({ db }: UserSessionDeps, caller: Caller, sessionId: number): Promise<void> {
  const owner = ownerOf(caller);
  if (owner === undefined || (await runCount(db.pool, endSessionOf, [...owner, sessionId])) === 0)
    throw entityNotFound("Session", sessionId);
}

/** Returns the sessions of a user that are not over. @throws entityNotFound for an unknown user */
export async function listSessionsOfUser(deps: UserSessionDeps, tenantId: number, userId: number): Promise<OwnSessionRow[]> {
  return run(deps.db.pool, listSessionsOf, [...ownerOfUser(tenantId, await getUser(deps, tenantId, userId))]);
}

/**
 * Ends a session of a user who holds no more than the caller: otherwise anybody who manages users could keep an administrator out. A user of an issuer
 * holds what the token said by which the session was opened, beside what the account has.
 * @throws entityNotFound for an unknown user, or a session that is over or of another user; insufficientPermission
 */
export async function endSessionOfUser(
  deps: UserSessionDeps,
  caller: HeldGrants & Pick<Identity, "tenantId">,
  { userId, sessionId }: { userId: number; sessionId: number },
): Promise<void> {
  const { tenantId } = caller;
  const user = await getUser(deps, tenantId, userId);
  checkCovers(caller, user);
  const session = [...ownerOfUser(tenantId, user), sessionId] as const;
  checkCovers(caller, await grantsByToken(deps, user.name, await runOne(deps.db.pool, findScopesOf, [...session])));
  if ((await runCount(deps.db.pool, endSessionOf, [...session])) === 0) throw entityNotFound("Session", sessionId);
}

/** What a session of an issuer allows now. */
async function grantsByToken(
  { db }: UserSessionDeps,
  user: string,
  opened: { tenant: string; scopes: string[] } | undefined,
): Promise<Grants> {
  if (opened === undefined) return noGrants;
  const { permissions, targetTypeScopes } = await resolveToken({ db: db.pool }, { user, ...opened });
  return { permissions, scoped: Object.fromEntries(Object.entries(targetTypeScopes).map(([name, { ids }]) => [name, ids])) };
}
