import { statement } from "@harrier/db";

export interface TokenTenantRow {
  tenantId: number;
  tenant: string;
  /** Null: the identity provider's user is none of ours. */
  userId: number | null;
  permissions: string[] | null;
  scoped: Record<string, number[]> | null;
}

/**
 * The tenant that a token names with its user of that name, and the snapshot that was asked: changes below `revision` were seen. One row
 * always. Only users without a password here: one who has it is who knows it, whatever name an issuer gives to somebody.
 */
export const findTokenTenant = statement<[tenant: string, user: string], Partial<TokenTenantRow> & { revision: number }>(
  "management.find_token_tenant",
  `select s.revision, t.*
     from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as revision) s
     left join (select t.tenant_id as "tenantId", t.name as tenant, u.id as "userId", u.permissions, u.scoped_permissions as scoped
                  from tenants t
                  left join users u on u.tenant_id = t.tenant_id and u.name = $2 and u.type = 'EXTERNAL_USER'
                 where lower(t.name) = lower($1) and t.status = 'active') t on true`,
);
