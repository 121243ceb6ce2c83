-- These views show tenants, the settings that they changed, and how their gateways sign in.

create or replace view tenants_v1 as
  select tenant_id, name, status from tenants;

-- The view holds only what differs from the defaults. Secrets have no value in the table, so none can appear here.
create or replace view tenant_settings_v1 as
  select tenant_id, key, value from settings where value is not null;

-- The view holds only what differs from the defaults, which every service knows (packages/contracts, quotas.ts).
create or replace view tenant_quotas_v1 as
  select tenant_id, key, value from quotas;

-- The view holds no secrets but their digests. Only API keys have `id` and `expires_at`.
create or replace view device_credentials_v1 as
  select s.tenant_id,
         t.name as tenant,
         'gateway'::text as kind,
         s.digest,
         t.status = 'active' and coalesce(e.value = 'true'::jsonb, false) as enabled,
         null::bigint as id,
         null::timestamptz as expires_at
    from settings s
    join tenants t on t.tenant_id = s.tenant_id
    left join settings e on e.tenant_id = s.tenant_id and e.key = 'authentication.gatewaytoken.enabled'
   where s.key = 'authentication.gatewaytoken.key' and s.digest is not null
  union all
  select k.tenant_id, t.name, 'api-key', k.digest, t.status = 'active' and k.expires_at > now(), k.id, k.expires_at
    from api_keys k
    join tenants t on t.tenant_id = k.tenant_id;

-- The view holds only changes that concern devices: changes of one user concern management and the gateways alone.
create or replace view credential_changes_v1 as
  select tenant_id, id, txid, at from credential_changes where user_id is null;

-- Where the messages of tenants go; those of a suspended tenant wait.
create or replace view messaging_v1 as
  select m.tenant_id, t.name as tenant, m.vhost, m.dmf, m.sie from messaging m join tenants t on t.tenant_id = m.tenant_id where t.status = 'active';

grant select on messaging_v1 to harrier_controller;
grant select on tenants_v1 to harrier_controller, harrier_artifact_store, harrier_rollout_engine;
grant select on tenant_quotas_v1 to harrier_controller, harrier_artifact_store, harrier_rollout_engine;
grant select on tenant_settings_v1 to harrier_controller, harrier_artifact_store, harrier_rollout_engine;
grant select on device_credentials_v1, credential_changes_v1 to harrier_controller;
