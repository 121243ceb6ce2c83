import type { EvidenceRule, Safety, SetFacts } from "@harrier/contracts";
import { type CompiledQuery, statement } from "@harrier/db";
import { matchingTargets, type Selection } from "../matching/matching.ts";

/** What a policy is made of. */
export interface SafetySources {
  /** The policy of the name; null if there is none. */
  named: Safety | null;
  /** What rules may name of the set; null if there is no such set. */
  facts: SetFacts | null;
  /** The types of targets that have rules. */
  types: { id: number; evidence: EvidenceRule[] }[];
  /** The setting `evidence.default`. */
  evidenceDefault: string | null;
}

/** Reads a policy by its name, in any case of letters, and everything that its evidence depends on. */
export const readSafetySources = statement<[tenantId: number, name: string | null, setId: number], SafetySources>(
  "rollout_engine.read_safety_sources",
  `select (select p.safety from management.safety_policies_v1 p where p.tenant_id = $1 and lower(p.name) = lower($2)) as named,
          (select f.facts from management.set_facts_v1 f where f.tenant_id = $1 and f.id = $3) as facts,
          (select coalesce(jsonb_agg(jsonb_build_object('id', y.id, 'evidence', y.evidence) order by y.id), '[]')
             from management.target_types_v1 y where y.tenant_id = $1 and y.evidence <> '[]') as types,
          (select s.value #>> '{}' from management.tenant_settings_v1 s where s.tenant_id = $1 and s.key = 'evidence.default') as "evidenceDefault"`,
);

/** Counts the targets of a selection by type; null stands for those without a type. */
export function countByType(selection: Selection): CompiledQuery<{ typeId: number | null; n: number }> {
  const { sql, values } = matchingTargets(selection);
  const text = `select t.target_type_id as "typeId", count(*)::int as n from controller.targets_v1 t where ${sql} group by t.target_type_id`;
  return { sql: text, bindings: values };
}
