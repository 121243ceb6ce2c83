import { statement } from "@harrier/db";

export interface TokenTenantRow {
  tenantId: number;
  tenant: string;
  /** Null means that the identity provider's user has no account here. */
  userId: number | null;
  permissions: string[] | null;
  scoped: Record<string, number[]> | null;
}

/**
 * Reads the tenant that a token names, the tenant's user of the name in the token, and the snapshot that was read: changes below `revision`
 * were seen. There is always one row. Only users without a password are found: one with a password signs in with it alone, whatever names
 * an issuer uses.
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
