import { statement } from "@harrier/db";
import type { SortMap } from "@harrier/fiql";
import { type AuditRow, auditColumns, type Columns, epochMs, type PageSource, selectList } from "@harrier/query";

/** This is a client as the interface shows it; neither secret is part of it. */
export interface OAuthClientRow extends AuditRow {
  id: number;
  clientId: string;
  name: string;
  description: string | null;
  scopes: string[];
  accessTokenTtl: number;
  /** The date has the form `YYYY-MM-DD` and is in UTC. */
  lastUsedOn: string | null;
  /** This is only set while there are two secrets. */
  previousSecretExpiresAt: number | null;
  revision: number;
}

const columns: Columns = {
  id: "t.id",
  clientId: "t.client_id",
  name: "t.name",
  description: "t.description",
  scopes: "t.scopes",
  accessTokenTtl: "t.access_token_ttl",
  lastUsedOn: "to_char(t.last_used_on, 'YYYY-MM-DD')",
  previousSecretExpiresAt: `case when t.previous_until > now() then ${epochMs("t.previous_until")} end`,
  revision: "t.revision",
  ...auditColumns("t"),
};

/** How the list is sorted. */
export const clientSort: SortMap = {
  fields: {
    clientid: "t.id",
    name: "t.name",
    description: "t.description",
    createdat: "t.created_at",
    createdby: "t.created_by",
    lastmodifiedat: "t.last_modified_at",
    lastmodifiedby: "t.last_modified_by",
    lastusedon: "t.last_used_on",
  },
  initial: "t.id asc",
  last: "t.id asc",
  nullable: ["t.description", "t.last_used_on"],
};

export const clientList = (tenantId: number): PageSource => ({
  from: "oauth_clients",
  columns,
  where: "t.tenant_id = $1",
  values: [tenantId],
});

export const findClient = statement<[tenantId: number, id: number], OAuthClientRow>(
  "management.find_oauth_client",
  `select ${selectList(columns)} from oauth_clients t where t.tenant_id = $1 and t.id = $2`,
);

/** Locks a client, because which change is allowed depends on what the client may do. */
export const lockClient = statement<[tenantId: number, id: number], OAuthClientRow>(
  "management.lock_oauth_client",
  `select ${selectList(columns)} from oauth_clients t where t.tenant_id = $1 and t.id = $2 for update`,
);

/** The creations of clients of one tenant run one after the other, so that each sees all clients that count against the quota. */
export const lockTenantForClients = statement<[tenantId: number], unknown>(
  "management.lock_tenant_for_oauth_clients",
  "select from tenants where tenant_id = $1 for no key update",
);

/**
 * Inserts clients; `clients` is `[{id, name, description, scopes, ttl, secret}]`, where secret is a digest in hex. There is no row where
 * the quota has no room for all.
 */
export const insertClients = statement<[tenantId: number, clients: string, actor: string, max: number], OAuthClientRow>(
  "management.insert_oauth_clients",
  `with t as (
     insert into oauth_clients (tenant_id, id, name, description, scopes, access_token_ttl, secret, created_by, last_modified_by)
     select $1, x.id, x.name, x.description, x.scopes, x.ttl, decode(x.secret, 'hex'), $3, $3
       from jsonb_to_recordset($2::jsonb) as x(id bigint, name text, description text, scopes text[], ttl int, secret text)
      where (select count(*) from oauth_clients o where o.tenant_id = $1) + jsonb_array_length($2::jsonb) <= $4
     returning *)
   select ${selectList(columns)} from t order by t.id`,
);

type ChangeValues = [
  tenantId: number,
  id: number,
  name: string | null,
  description: string | null,
  scopes: readonly string[] | null,
  ttl: number | null,
  actor: string,
  feedId: number,
];

/** Updates a client; null leaves a member as it is. Gateways forget the tokens of a client with other scopes in the same transaction. */
export const updateClient = statement<ChangeValues, OAuthClientRow>(
  "management.update_oauth_client",
  `with t as (
     update oauth_clients
        set name = coalesce($3, name), description = coalesce($4, description), scopes = coalesce($5::text[], scopes),
            access_token_ttl = coalesce($6::int, access_token_ttl),
            last_modified_by = $7, last_modified_at = now(), revision = revision + 1
      where tenant_id = $1 and id = $2
     returning *),
   change as (
     insert into credential_changes (tenant_id, user_id) select $1, $8::bigint from t where $5::text[] is not null)
   select ${selectList(columns)} from t`,
);

/**
 * Stores a new secret; the one before stays good for `overlap` seconds. With an overlap of 0 the client's existing tokens are refused too,
 * because a holder of the old secret may have one.
 */
export const replaceSecret = statement<
  [tenantId: number, id: number, secret: Buffer, overlap: number, actor: string, feedId: number],
  OAuthClientRow
>(
  "management.replace_oauth_secret",
  `with t as (
     update oauth_clients
        set previous_secret = case when $4::int > 0 then secret end,
            previous_until = case when $4::int > 0 then now() + make_interval(secs => $4::int) end,
            generation = generation + case when $4::int > 0 then 0 else 1 end,
            secret = $3, last_modified_by = $5, last_modified_at = now(), revision = revision + 1
      where tenant_id = $1 and id = $2
     returning *),
   change as (
     insert into credential_changes (tenant_id, user_id) select $1, $6::bigint from t where $4::int = 0)
   select ${selectList(columns)} from t`,
);

/** Deletes a client and makes gateways forget its tokens, in one transaction. */
export const deleteClient = statement<[tenantId: number, id: number, feedId: number], { id: number }>(
  "management.delete_oauth_client",
  `with gone as (
     delete from oauth_clients where tenant_id = $1 and id = $2 returning id),
   change as (
     insert into credential_changes (tenant_id, user_id) select $1, $3::bigint from gone)
   select id from gone`,
);

/** Returns the named roles that do not exist. */
export const unknownRoles = statement<[tenantId: number, names: readonly string[]], { name: string }>(
  "management.unknown_roles",
  `select g.name from unnest($2::text[]) as g(name)
    where not exists (select from roles r where r.tenant_id = $1 and r.name = g.name) order by g.name`,
);
