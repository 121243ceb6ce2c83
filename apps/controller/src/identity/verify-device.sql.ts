import { statement } from "@harrier/db";

export interface VerifiedRow {
  tenantId: number | null;
  tenant: string | null;
  ok: boolean;
  /** Oldest transaction that still ran when this was answered: every change below it was seen. */
  revision: number;
}

const revision = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint as revision`;

/**
 * A target's own token, if the tenant lets targets sign in so (contract device.md §9). Always one row: an unknown tenant, an unknown
 * target, a wrong token and a closed door are the same answer.
 */
export const verifyTargetToken = statement<[tenant: string, controllerId: string, digest: Buffer], VerifiedRow>(
  "controller.verify_target_token",
  `select n.tenant_id as "tenantId", n.name as tenant, coalesce(t.id is not null and s.value = 'true'::jsonb, false) as ok, ${revision}
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     left join management.tenant_settings_v1 s on s.tenant_id = n.tenant_id and s.key = 'authentication.targettoken.enabled'
     left join targets t on t.tenant_id = n.tenant_id and t.controller_id = $2 and t.token_digest = $3`,
);

/** The tenant's gateway key: speaks for every device of the tenant. Always one row. */
export const verifyGatewayToken = statement<[tenant: string, digest: Buffer], VerifiedRow>(
  "controller.verify_gateway_token",
  `select n.tenant_id as "tenantId", n.name as tenant, coalesce(c.enabled, false) as ok, ${revision}
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     left join management.device_credentials_v1 c on c.tenant_id = n.tenant_id and c.kind = 'gateway' and c.digest = $2`,
);
