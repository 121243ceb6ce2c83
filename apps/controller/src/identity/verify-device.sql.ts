import { statement } from "@harrier/db";

export interface VerifiedRow {
  tenantId: number | null;
  tenant: string | null;
  ok: boolean;
  /** The oldest transaction that was still running when this was answered: every change below it was seen. */
  revision: number;
}

const revision = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint as revision`;

/**
 * Verifies a target's own token, if the tenant lets targets sign in so (contract device.md §9). There is always one row: an unknown tenant, an
 * unknown target, a wrong token and a disabled sign-in get the same answer.
 */
export const verifyTargetToken = statement<[tenant: string, controllerId: string, digest: Buffer], VerifiedRow>(
  "controller.verify_target_token",
  `select n.tenant_id as "tenantId", n.name as tenant, coalesce(t.id is not null and s.value = 'true'::jsonb, false) as ok, ${revision}
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     left join management.tenant_settings_v1 s on s.tenant_id = n.tenant_id and s.key = 'authentication.targettoken.enabled'
     left join targets t on t.tenant_id = n.tenant_id and t.controller_id = $2 and t.token_digest = $3`,
);

/** The limit makes the planner go by the tenant: a plain join would read the credentials of all tenants, since the view is a union. */
const credentialOf = (kind: "gateway" | "api-key"): string =>
  `left join lateral (
       select d.id, d.enabled, d.expires_at from management.device_credentials_v1 d
        where d.tenant_id = n.tenant_id and d.kind = '${kind}' and d.digest = $2 limit 1)`;

/** Verifies the tenant's gateway token, which authenticates every device of the tenant. There is always one row. */
export const verifyGatewayToken = statement<[tenant: string, digest: Buffer], VerifiedRow>(
  "controller.verify_gateway_token",
  `select n.tenant_id as "tenantId", n.name as tenant, coalesce(c.enabled, false) as ok, ${revision}
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     ${credentialOf("gateway")} c on true`,
);

export interface VerifiedKeyRow extends VerifiedRow {
  /** The id of the key's record; null where there is none. */
  keyId: number | null;
  /** The time in epoch milliseconds, rounded down. */
  expiresAt: number | null;
}

/** Verifies a device API key, which authenticates every device of its tenant until it expires (spec 000 §5.5). There is always one row. */
export const verifyApiKey = statement<[tenant: string, digest: Buffer], VerifiedKeyRow>(
  "controller.verify_api_key",
  `select n.tenant_id as "tenantId", n.name as tenant, coalesce(c.enabled, false) as ok, ${revision}, c.id as "keyId",
          floor(extract(epoch from c.expires_at) * 1000)::bigint as "expiresAt"
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     ${credentialOf("api-key")} c on true`,
);

/**
 * Verifies a certificate that a trusted proxy has checked: one of its issuers ($2, lower-case) must be in the tenant's list (contract device.md
 * §9.2). With an empty list no certificate is accepted. There is always one row.
 */
export const verifyCertificate = statement<[tenant: string, issuers: readonly string[]], VerifiedRow>(
  "controller.verify_certificate",
  `select n.tenant_id as "tenantId", n.name as tenant,
          coalesce(e.value = 'true'::jsonb, false)
            and exists (select from regexp_split_to_table(lower(a.value #>> '{}'), '[;,]') entry
                         where btrim(entry) <> '' and btrim(entry) = any($2)) as ok,
          ${revision}
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     left join management.tenant_settings_v1 e on e.tenant_id = n.tenant_id and e.key = 'authentication.header.enabled'
     left join management.tenant_settings_v1 a on a.tenant_id = n.tenant_id and a.key = 'authentication.header.authority'`,
);

/** Verifies an anonymous download, if the tenant allows it (contract device.md §9). There is always one row. */
export const verifyAnonymous = statement<[tenant: string], VerifiedRow>(
  "controller.verify_anonymous",
  `select n.tenant_id as "tenantId", n.name as tenant, coalesce(s.value = 'true'::jsonb, false) as ok, ${revision}
     from (values (1)) as always(one)
     left join management.tenants_v1 n on lower(n.name) = lower($1) and n.status = 'active'
     left join management.tenant_settings_v1 s on s.tenant_id = n.tenant_id and s.key = 'anonymous.download.enabled'`,
);
