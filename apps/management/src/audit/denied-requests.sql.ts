import { statement } from "@harrier/db";

/**
 * Writes the entries of denied requests; `refusals` is a list of ended entries. With `tenant_id` 0, or an unknown one that an
 * unauthenticated client claimed, an entry belongs to the tenant of that name or, where there is none, to the operator's. Entries that
 * exist already, sealed or not, stay as they are.
 */
export const insertDeniedRequests = statement<[refusals: string, defaultTenant: string], unknown>(
  "management.insert_denied_requests",
  `insert into audit_pending (tenant_id, id, at, actor_kind, actor, action, entity, entity_ids, source_ip, request_id, times, details,
                              ended_at, result, status, error_code)
   select o.tenant_id, x.id, 'epoch'::timestamptz + x.at * interval '1 millisecond', x.actor_kind, x.actor, x.action, x.entity, x.entity_ids,
          x.source_ip, x.request_id, x.times, x.details, now(), 'REFUSED', x.status, x.error_code
     from jsonb_to_recordset($1::jsonb) as x(tenant_id int, tenant text, id uuid, at bigint, actor_kind text, actor text, action text, entity text,
                                             entity_ids text[], source_ip text, request_id text, times int, details text, status smallint,
                                             error_code text)
     left join tenants t on x.tenant_id = 0 and lower(t.name) = lower(x.tenant)
     left join tenants c on c.tenant_id = x.tenant_id and x.actor_kind = 'NOBODY'
     join tenants d on lower(d.name) = lower($2)
    cross join lateral (select coalesce(case when x.actor_kind = 'USER' then nullif(x.tenant_id, 0) end, c.tenant_id, t.tenant_id,
                                        d.tenant_id) as tenant_id) o
    where not exists (select from audit_entries e where e.tenant_id = o.tenant_id and e.id = x.id)
   on conflict (tenant_id, id) do nothing`,
);
