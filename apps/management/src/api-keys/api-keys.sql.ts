import { statement } from "@harrier/db";
import { type Columns, epochMs, isRevision, selectList } from "@harrier/query";
import { limitSql } from "../quotas/limits.sql.ts";

export interface ApiKeyRow {
  id: number;
  name: string;
  description: string | null;
  expiresAt: number;
  /** The date has the form `YYYY-MM-DD` and is in UTC. */
  lastUsedOn: string | null;
  revision: number;
}

const columns: Columns = {
  id: "k.id",
  name: "k.name",
  description: "k.description",
  expiresAt: epochMs("k.expires_at"),
  lastUsedOn: "to_char(k.last_used_on, 'YYYY-MM-DD')",
  revision: "k.revision",
};

export const listApiKeys = statement<[tenantId: number], ApiKeyRow>(
  "management.list_api_keys",
  `select ${selectList(columns)} from api_keys k where k.tenant_id = $1 order by k.id`,
);

export const findApiKey = statement<[tenantId: number, id: number], ApiKeyRow>(
  "management.find_api_key",
  `select ${selectList(columns)} from api_keys k where k.tenant_id = $1 and k.id = $2`,
);

/** The creations of keys of one tenant run one after the other, so that each sees all keys that count against the quota. */
export const lockTenantForKey = statement<[tenantId: number], unknown>(
  "management.lock_tenant_for_key",
  "select from tenants where tenant_id = $1 for no key update",
);

export interface NewApiKey {
  tenantId: number;
  id: number;
  name: string;
  description: string | null;
  digest: Buffer;
  expiresAt: Date;
  at: Date;
  actor: string;
}

type NewApiKeyValues = [
  tenantId: number,
  id: number,
  name: string,
  description: string | null,
  digest: Buffer,
  expiresAt: Date,
  at: Date,
  actor: string,
];

export const newApiKeyValues = (key: NewApiKey): NewApiKeyValues => [
  key.tenantId,
  key.id,
  key.name,
  key.description,
  key.digest,
  key.expiresAt,
  key.at,
  key.actor,
];

/** Inserts a key; no row comes back where the quota is used up. Expired keys count until they are deleted (spec 000 §8). */
export const insertApiKey = statement<NewApiKeyValues, ApiKeyRow>(
  "management.insert_api_key",
  `insert into api_keys as k (tenant_id, id, name, description, digest, expires_at, created_at, last_modified_at, created_by, last_modified_by)
   select $1, $2, $3, $4, $5, $6, $7, $7, $8, $8
     from (select ${limitSql("DSI_API_KEYS_MAX_COUNT")} as n) max
    where max.n <= 0 or (select count(*) from api_keys o where o.tenant_id = $1) < max.n
   returning ${selectList(columns)}`,
);

export const updateApiKey = statement<
  [tenantId: number, id: number, description: string | null, actor: string, ifMatch: readonly number[] | null],
  ApiKeyRow
>(
  "management.update_api_key",
  `update api_keys k set description = $3, last_modified_by = $4, last_modified_at = now(), revision = k.revision + 1
    where k.tenant_id = $1 and k.id = $2 and ${isRevision("k.revision", "$5")}
   returning ${selectList(columns)}`,
);

/** Deletes a key and makes the gateways forget whom it let in, in one transaction. */
export const deleteApiKey = statement<[tenantId: number, id: number, ifMatch: readonly number[] | null], { id: number }>(
  "management.delete_api_key",
  `with gone as (
     delete from api_keys where tenant_id = $1 and id = $2 and ${isRevision("revision", "$3")} returning tenant_id, id),
   change as (
     insert into credential_changes (tenant_id) select tenant_id from gone)
   select id from gone`,
);

/** Records days of last use; `days` are days since 1970-01-01. Rows are locked in order because several gateways send the same keys at once. */
export const recordApiKeyUses = statement<[tenantIds: number[], ids: number[], days: number[]], unknown>(
  "management.record_api_key_uses",
  `with said as (
     select u.tenant_id, u.id, date '1970-01-01' + max(u.day) as day
       from unnest($1::int[], $2::bigint[], $3::int[]) u (tenant_id, id, day) group by 1, 2),
   held as (
     select k.tenant_id, k.id, s.day
       from said s join api_keys k on k.tenant_id = s.tenant_id and k.id = s.id
      where k.last_used_on is null or k.last_used_on < s.day
      order by k.tenant_id, k.id
        for no key update of k)
   update api_keys k set last_used_on = greatest(k.last_used_on, h.day)
     from held h where k.tenant_id = h.tenant_id and k.id = h.id`,
);
