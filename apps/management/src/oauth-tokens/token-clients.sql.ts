import { statement } from "@harrier/db";

/** This is a client that asks for a token, with the digests of the secrets that are good now. */
export interface TokenClientRow {
  tenant: string;
  scopes: string[];
  accessTokenTtl: number;
  generation: number;
  secrets: string[];
}

/** Reads a client; there is no row for a client of a suspended tenant either. */
export const findTokenClient = statement<[tenantId: number, id: number], TokenClientRow>(
  "management.find_token_client",
  `select n.name as tenant, c.scopes, c.access_token_ttl as "accessTokenTtl", c.generation,
          array_remove(array[encode(c.secret, 'hex'), case when c.previous_until > now() then encode(c.previous_secret, 'hex') end], null)
            as secrets
     from oauth_clients c join tenants n on n.tenant_id = c.tenant_id
    where c.tenant_id = $1 and c.id = $2 and n.status = 'active'`,
);

/** Records the day of use once per day and client, because a program that asks for tokens without a pause would otherwise write a row each time. */
export const recordClientUse = statement<[tenantId: number, id: number], unknown>(
  "management.record_oauth_client_use",
  `update oauth_clients set last_used_on = (now() at time zone 'UTC')::date
    where tenant_id = $1 and id = $2 and last_used_on is distinct from (now() at time zone 'UTC')::date`,
);

export interface SignedInClientRow {
  tenant: string;
  scopes: string[];
  generation: number;
}

/** Reads the client of a token, and the snapshot that was read: changes below `revision` were seen. There is always one row. */
export const findSignedInClient = statement<[tenantId: number, id: number], Partial<SignedInClientRow> & { revision: number }>(
  "management.find_signed_in_client",
  `select s.revision, u.*
     from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as revision) s
     left join (select n.name as tenant, c.scopes, c.generation
                  from oauth_clients c join tenants n on n.tenant_id = c.tenant_id
                 where c.tenant_id = $1 and c.id = $2 and n.status = 'active') u on true`,
);
