import { maxSafetyPolicies, type Safety } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { type AuditRow, auditColumns, type Columns, isRevision, selectList } from "@harrier/query";

export interface SafetyPolicyRow extends AuditRow {
  id: number;
  name: string;
  description: string | null;
  safety: Safety;
  revision: number;
}

const columns: Columns = {
  ...auditColumns("p"),
  id: "p.id",
  name: "p.name",
  description: "p.description",
  safety: "p.safety",
  revision: "p.revision",
};

/** There are at most `maxSafetyPolicies` of them. */
export const listSafetyPolicies = statement<[tenantId: number], SafetyPolicyRow>(
  "management.list_safety_policies",
  `select ${selectList(columns)} from safety_policies p where p.tenant_id = $1 order by p.id`,
);

export const findSafetyPolicy = statement<[tenantId: number, id: number], SafetyPolicyRow>(
  "management.find_safety_policy",
  `select ${selectList(columns)} from safety_policies p where p.tenant_id = $1 and p.id = $2`,
);

/**
 * The creations of policies of one tenant run one after the other, so that each sees all that count against the limit; and so do those of changes that
 * take a name away, with the changes of its settings.
 */
export const lockTenantForPolicy = statement<[tenantId: number], unknown>(
  "management.lock_tenant_for_policy",
  "select from tenants where tenant_id = $1 for no key update",
);

/** Inserts policies, all or none; no row comes back where there would be too many. A name that is taken is a unique violation. */
export const insertSafetyPolicies = statement<[tenantId: number, rows: string, actor: string], SafetyPolicyRow>(
  "management.insert_safety_policies",
  `with input as (
     select i.*, count(*) over () as n from jsonb_to_recordset($2::jsonb) as i(id bigint, name text, description text, safety jsonb))
   insert into safety_policies as p (tenant_id, id, name, description, safety, created_by, last_modified_by)
   select $1, i.id, i.name, i.description, i.safety, $3, $3 from input i
    where (select count(*) from safety_policies o where o.tenant_id = $1) + i.n <= ${maxSafetyPolicies} order by i.id
   returning ${selectList(columns)}`,
);

/** Says whether the setting `safety.default` names a policy. */
export const isDefaultPolicy = statement<[tenantId: number, id: number], { name: string }>(
  "management.is_default_safety_policy",
  `select p.name from safety_policies p
     join settings s on s.tenant_id = p.tenant_id and s.key = 'safety.default' and lower(s.value #>> '{}') = lower(p.name)
    where p.tenant_id = $1 and p.id = $2`,
);

/** Finds a policy by its name, in any case. */
export const findPolicyByName = statement<[tenantId: number, name: string], { id: number }>(
  "management.find_safety_policy_by_name",
  "select p.id from safety_policies p where p.tenant_id = $1 and lower(p.name) = lower($2)",
);

/** Changes a policy; members that are null stay as they are. There is no row where it does not exist. */
export const updateSafetyPolicy = statement<
  [
    tenantId: number,
    id: number,
    name: string | null,
    description: string | null,
    safety: string | null,
    actor: string,
    ifMatch: readonly number[] | null,
  ],
  SafetyPolicyRow
>(
  "management.update_safety_policy",
  `update safety_policies p
      set name = coalesce($3, p.name), description = coalesce($4, p.description), safety = coalesce($5::jsonb, p.safety),
          last_modified_by = $6, last_modified_at = now(), revision = p.revision + 1
    where p.tenant_id = $1 and p.id = $2 and ${isRevision("p.revision", "$7")}
   returning ${selectList(columns)}`,
);

export const deleteSafetyPolicy = statement<[tenantId: number, id: number, ifMatch: readonly number[] | null], unknown>(
  "management.delete_safety_policy",
  `delete from safety_policies where tenant_id = $1 and id = $2 and ${isRevision("revision", "$3")}`,
);
