import { statement } from "@harrier/db";

/** With one more the session that has not been used for longest is ended. */
export const maxSessions = 50;

/**
 * In the log of credential changes a session whose user has no account here has an id of its own: those of users are positive, and those of
 * OAuth clients are above -2^31.
 */
const feedId = (session: string): string => `coalesce(${session}.user_id, -1099511627776 - ${session}.id)`;

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::bigint`;

type NewSession = [
  tenantId: number,
  idDigest: string,
  userId: number | null,
  generation: number,
  kind: string,
  issuer: string,
  subject: string,
  scopes: readonly string[],
  ttlSeconds: number,
  idleSeconds: number,
  notAfter: number | null,
  lastIp: string,
  userAgent: string,
];

/** Opens a session (one that the call has opened already, when it is repeated), if the tenant is active and the user still has the password that was verified; ends the least used beyond the maximum. */
export const openSession = statement<NewSession, { expiresAt: number; idleUntil: number }>(
  "management.open_session",
  `with owner as (
     select t.tenant_id from tenants t
      where t.tenant_id = $1 and t.status = 'active'
        and ($3::bigint is null or exists (select from users u where u.tenant_id = $1 and u.id = $3 and ($6 <> '' or u.generation = $4)))),
   ended as (
     delete from sessions s
      where s.tenant_id = $1 and exists (select from owner)
        and s.id in (select o.id from sessions o where o.tenant_id = $1 and o.subject = $7 and o.issuer = $6
                      order by o.last_used_at desc, o.id desc offset ${maxSessions - 1})
     returning s.id, s.user_id),
   change as (insert into credential_changes (tenant_id, user_id) select $1, ${feedId("ended")} from ended)
   insert into sessions as s (tenant_id, id_digest, user_id, generation, kind, issuer, subject, scopes, expires_at, idle_until, last_ip, user_agent)
   select $1, decode($2, 'hex'), $3, $4, $5, $6, $7, $8,
          least(now() + $9 * interval '1 second', coalesce(to_timestamp($11::bigint / 1000.0), 'infinity')), now() + $10 * interval '1 second', $12, $13
     from owner
   on conflict (id_digest) do update set last_ip = excluded.last_ip
   returning ${ms("s.expires_at")} as "expiresAt", ${ms("s.idle_until")} as "idleUntil"`,
);

export interface SessionRow {
  tenantId: number;
  tenant: string;
  sessionId: number;
  userId: number | null;
  issuer: string;
  subject: string;
  scopes: string[];
  /** Null means that the user has no account here. */
  permissions: string[] | null;
  scoped: Record<string, number[]> | null;
  feedId: number;
  expiresAt: number;
}

const alive = "s.expires_at > now() and s.idle_until > now() and (s.issuer <> '' or u.generation = s.generation)";

/** Reads a session that is not over, and the snapshot that was read: changes below `revision` were seen. There is always one row. */
export const findSession = statement<[idDigest: string, kind: string], Partial<SessionRow> & { revision: number }>(
  "management.find_session",
  `select x.revision, f.*
     from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as revision) x
     left join (select s.tenant_id as "tenantId", t.name as tenant, s.id as "sessionId", s.user_id as "userId", s.issuer, s.subject, s.scopes,
                       u.permissions, u.scoped_permissions as scoped, ${feedId("s")} as "feedId", ${ms("s.expires_at")} as "expiresAt"
                  from sessions s
                  join tenants t on t.tenant_id = s.tenant_id and t.status = 'active'
                  left join users u on u.tenant_id = s.tenant_id and u.id = s.user_id
                 where s.id_digest = decode($1, 'hex') and s.kind = $2 and ${alive}) f on true`,
);

/**
 * Tells the gateways that sessions have ended. A user of an issuer may have got an account since the session was opened, and is then known to
 * gateways by its id.
 */
const tellEnded = `insert into credential_changes (tenant_id, user_id)
   select tenant_id, ${feedId("ended")} from ended
   union
   select u.tenant_id, u.id from ended join users u on u.tenant_id = ended.tenant_id and u.name = ended.subject and u.type = 'EXTERNAL_USER'
    where ended.issuer <> ''`;

/** Ends a session by the digest of its id; gateways forget it in the same transaction. */
export const closeSession = statement<[idDigest: string], unknown>(
  "management.close_session",
  `with ended as (delete from sessions where id_digest = decode($1, 'hex') returning *) ${tellEnded}`,
);

/** Records when sessions were last used. A clock that is ahead makes none longer, and a session that is over stays so. */
export const recordSessionUses = statement<
  [tenantIds: readonly number[], ids: readonly number[], at: readonly number[], idleSeconds: number],
  unknown
>(
  "management.record_session_uses",
  `update sessions s
      set last_used_at = greatest(s.last_used_at, u.at), idle_until = greatest(s.idle_until, u.at + $4 * interval '1 second')
     from (select tenant_id, id, least(to_timestamp(max(at) / 1000.0), now()) as at
             from unnest($1::int[], $2::bigint[], $3::bigint[]) as x(tenant_id, id, at) group by 1, 2) u
    where s.tenant_id = u.tenant_id and s.id = u.id and s.idle_until > now()`,
);

/** A session as its user and administrators see it; times are epoch ms. */
export interface OwnSessionRow {
  id: number;
  kind: "browser" | "cli";
  /** Empty: by password. */
  issuer: string;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
  idleUntil: number;
  lastIp: string;
  userAgent: string;
}

/** Answers are never longer, however many issuers name the same user; each has `maxSessions` at most. */
const maxListed = 500;

/** Whose sessions: those by password (`''`), those of one issuer, or those of any issuer (`null`). */
type Owner = [tenantId: number, subject: string, issuer: string | null];

const owned = "s.tenant_id = $1 and s.subject = $2 and case when $3::text is null then s.issuer <> '' else s.issuer = $3 end";
const withUser = "left join users u on u.tenant_id = s.tenant_id and u.id = s.user_id";

/** Reads the sessions of a user that are not over, the one that was used last first. */
export const listSessionsOf = statement<Owner, OwnSessionRow>(
  "management.list_sessions_of",
  `select s.id, s.kind, s.issuer, ${ms("s.created_at")} as "createdAt", ${ms("s.last_used_at")} as "lastUsedAt", ${ms("s.expires_at")} as "expiresAt",
          ${ms("s.idle_until")} as "idleUntil", s.last_ip as "lastIp", s.user_agent as "userAgent"
     from sessions s ${withUser}
    where ${owned} and ${alive}
    order by s.last_used_at desc, s.id desc limit ${maxListed}`,
);

/** Reads what a session of an issuer was opened with, and the name of its tenant. One by password has no row here. */
export const findScopesOf = statement<[...Owner, id: number], { tenant: string; scopes: string[] }>(
  "management.find_scopes_of",
  `select t.name as tenant, s.scopes from sessions s ${withUser} join tenants t on t.tenant_id = s.tenant_id
    where ${owned} and s.id = $4 and s.issuer <> '' and ${alive}`,
);

/** Ends a session of a user by its number, unless it is over; gateways forget it in the same transaction. */
export const endSessionOf = statement<[...Owner, id: number], unknown>(
  "management.end_session_of",
  `with ended as (
     delete from sessions e
      where e.tenant_id = $1 and e.id = (select s.id from sessions s ${withUser} where ${owned} and s.id = $4 and ${alive})
     returning *) ${tellEnded}`,
);

/** Deletes sessions that are over, a bounded number at a time. Gateways know their end. */
export const deleteEnded = statement<[limit: number], unknown>(
  "management.delete_ended_sessions",
  `delete from sessions s using (select tenant_id, id from sessions where least(expires_at, idle_until) < now() limit $1) e
    where s.tenant_id = e.tenant_id and s.id = e.id`,
);
