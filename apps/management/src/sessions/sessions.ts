import { type Queryable, runCount, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type {
  CloseSessionRequest,
  CloseSessionResponse,
  NoteSessionUsesRequest,
  NoteSessionUsesResponse,
  OpenSessionRequest,
  OpenSessionResponse,
  ResolveSessionRequest,
  ResolveSessionResponse,
} from "@harrier/rpc";
import { noGrants } from "../grants/grants.ts";
import { allowed } from "../identity/allowed.ts";
import { resolveToken } from "../identity/resolve-token.ts";
import { closeSession, deleteEnded, findSession, openSession, recordSessionUses as write } from "./sessions.sql.ts";

export interface SessionDeps {
  db: Queryable;
  /** Seconds after which a session ends, used or not. */
  sessionTtl: number;
  /** Seconds without a request after which it ends. */
  sessionIdle: number;
}

const digest = /^[0-9a-f]{64}$/;
const controls = /\p{Cc}/gu;

/** A batch of a gateway is at most this long. */
const maxUses = 5_000;

/**
 * Opens a session of a user whose credential the gateway has just had verified (ADR 47). `ok` is false if the tenant, the user or the
 * password is another one by now.
 */
export async function open(deps: SessionDeps, request: OpenSessionRequest): Promise<OpenSessionResponse> {
  const { idDigest, tenantId, userId, generation, kind, issuer, subject, scopes, notAfter, lastIp, userAgent } = request;
  if (!digest.test(idDigest) || (kind !== "browser" && kind !== "cli")) throw new HarrierError("constraintViolation", "no session");
  const text = (value: string, length: number) => value.replaceAll(controls, "").slice(0, length);
  const row = await runOne(deps.db, openSession, [
    tenantId,
    idDigest,
    userId > 0 ? userId : null,
    generation,
    kind,
    issuer,
    subject,
    scopes,
    deps.sessionTtl,
    deps.sessionIdle,
    notAfter > 0 ? notAfter : null,
    text(lastIp, 64),
    text(userAgent, 256),
  ]);
  return row === undefined ? { ok: false, expiresAt: 0, idleUntil: 0 } : { ok: true, ...row };
}

/** Returns who a session is and what they may do now: a user's own grants, or those of the scopes of the issuer's token. */
export async function resolve(deps: SessionDeps, request: ResolveSessionRequest): Promise<ResolveSessionResponse> {
  const found = digest.test(request.idDigest) ? await runOne(deps.db, findSession, [request.idDigest, request.kind]) : undefined;
  const revision = found?.revision ?? 0;
  if (found?.sessionId === undefined || found.sessionId === null) return { ...nobody, revision };
  const { tenantId = 0, tenant = "", sessionId, subject = "", issuer = "", expiresAt = 0, feedId = 0 } = found;
  const session = { ok: true, tenantId, tenant, subject, issuer, sessionId, expiresAt, idleSeconds: deps.sessionIdle, revision };
  if (issuer === "") {
    const grants = found.permissions && found.scoped ? { permissions: found.permissions, scoped: found.scoped } : noGrants;
    return { ...session, ...allowed(grants), userId: feedId };
  }
  const token = await resolveToken(deps, { tenant, user: subject, scopes: found.scopes ?? [] });
  if (!token.ok) return { ...nobody, revision };
  const { permissions, targetTypeScopes } = token;
  return { ...session, permissions, targetTypeScopes, userId: token.userId > 0 ? token.userId : feedId };
}

const nobody = {
  ok: false,
  tenantId: 0,
  tenant: "",
  subject: "",
  issuer: "",
  permissions: [],
  targetTypeScopes: {},
  userId: 0,
  sessionId: 0,
  expiresAt: 0,
  idleSeconds: 0,
};

/** Ends a session; one that is over already is no error. */
export async function close(deps: SessionDeps, { idDigest }: CloseSessionRequest): Promise<CloseSessionResponse> {
  if (digest.test(idDigest)) await runCount(deps.db, closeSession, [idDigest]);
  return {};
}

/** Records when sessions were last used, which gateways send once a minute. */
export async function recordSessionUses(deps: SessionDeps, { uses }: NoteSessionUsesRequest): Promise<NoteSessionUsesResponse> {
  if (uses.length === 0) return {};
  if (uses.length > maxUses) throw new HarrierError("constraintViolation", `more than ${maxUses} uses`);
  const columns = [uses.map((use) => use.tenantId), uses.map((use) => use.sessionId), uses.map((use) => use.at)] as const;
  await runCount(deps.db, write, [...columns, deps.sessionIdle]);
  return {};
}

const sessionsPerPiece = 1_000;

/** Deletes a piece of the sessions that are over; false if there was none. */
export async function cleanUpSessions(deps: { db: Queryable }): Promise<boolean> {
  return (await runCount(deps.db, deleteEnded, [sessionsPerPiece])) > 0;
}
