import { me, type SessionView, sessionsOfUser } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import type { OwnSessionRow } from "./sessions.sql.ts";
import { endOwnSession, endSessionOfUser, listOwnSessions, listSessionsOfUser, type UserSessionDeps } from "./user-sessions.ts";

/** Serves the sessions of the caller and, for USER_MANAGEMENT, those of any user of the tenant (contract console.md M22). */
export function mountSessions(mount: Mount, deps: UserSessionDeps): void {
  mount(me.listSessions, async ({ identity }) => ({ body: (await listOwnSessions(deps, identity)).map(sessionJson(identity.sessionId)) }));

  mount(me.deleteSession, async ({ identity, params }) => endOwnSession(deps, identity, params.sessionId));

  mount(sessionsOfUser.listSessions, async ({ identity, tenantId, params }) => ({
    body: (await listSessionsOfUser(deps, tenantId, params.userId)).map(sessionJson(identity.sessionId)),
  }));

  mount(sessionsOfUser.deleteSession, async ({ identity, params }) => endSessionOfUser(deps, identity, params));
}

/** Renders a session; `current` is the number of the one by which the request came. */
function sessionJson(current: number | undefined): (row: OwnSessionRow) => SessionView {
  return ({ id, kind, issuer, createdAt, lastUsedAt, expiresAt, idleUntil, lastIp, userAgent }) => ({
    id,
    kind,
    current: id === current,
    createdAt,
    lastUsedAt,
    expiresAt,
    idleExpiresAt: Math.min(idleUntil, expiresAt),
    address: lastIp,
    userAgent,
    ...(issuer !== "" && { issuer }),
  });
}
