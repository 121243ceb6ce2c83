import type { EvidenceRule, Safety, SetFacts } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { inScope, type Scope } from "@harrier/query";

/** Everything that the policies of an assignment are made of. */
export interface AssignmentSafetySources {
  /** The policies of the names, by their names in lower case. */
  policies: Record<string, Safety>;
  /** What rules may name, by set. */
  facts: Record<string, SetFacts>;
  /** The types of targets that have rules. */
  types: { id: number; evidence: EvidenceRule[] }[];
  /** The setting `evidence.default`. */
  evidenceDefault: string | null;
  /** The targets that the caller may assign to, with their types. */
  targets: [controllerId: string, typeId: number | null][];
}

/** Reads all of it at once; `names` are in lower case. */
export const readAssignmentSafety = statement<
  [tenantId: number, scope: Scope, names: readonly string[], setIds: readonly number[], controllerIds: readonly string[]],
  AssignmentSafetySources
>(
  "management.read_assignment_safety",
  `select (select coalesce(jsonb_object_agg(lower(p.name), p.safety), '{}') from safety_policies p
            where p.tenant_id = $1 and lower(p.name) = any($3::text[])) as policies,
          (select coalesce(jsonb_object_agg(f.id, f.facts), '{}') from set_facts_v1 f where f.tenant_id = $1 and f.id = any($4::bigint[])) as facts,
          (select coalesce(jsonb_agg(jsonb_build_object('id', y.id, 'evidence', y.evidence) order by y.id), '[]') from target_types y
            where y.tenant_id = $1 and y.evidence <> '[]') as types,
          (select s.value #>> '{}' from settings s where s.tenant_id = $1 and s.key = 'evidence.default') as "evidenceDefault",
          (select coalesce(jsonb_agg(jsonb_build_array(t.controller_id, t.target_type_id)), '[]') from controller.targets_v1 t
            where t.tenant_id = $1 and ${inScope("t.target_type_id", "$2")} and t.controller_id = any($5::text[])) as targets`,
);
