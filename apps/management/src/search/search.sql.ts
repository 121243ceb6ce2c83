import { statement } from "@harrier/db";
import { inScope, reachesOnly, type Scope } from "@harrier/query";

/** The kinds of entities, in the order of the answer. */
export type FoundKind =
  | "targets"
  | "distributionSets"
  | "softwareModules"
  | "rollouts"
  | "targetFilters"
  | "targetTags"
  | "distributionSetTags";

export interface FoundRow {
  kind: FoundKind;
  /** The controllerId of a target, else the id. */
  id: string;
  name: string;
  version: string | null;
}

/**
 * Selects what begins with the text as a range of an index over folded text: a pattern would take a '%' in it for any text, and would be no
 * range in a prepared statement. The last character of Unicode is behind each that a name may go on with.
 */
const begins = (column: string): string => `lower(${column}) ~>=~ lower($2) and lower(${column}) ~<~ (lower($2) || U&'\\+10FFFF')`;

const allowed = (kind: FoundKind): string => `'${kind}' = any($3::text[])`;

interface Kind {
  from: string;
  where?: string;
  version?: string;
}

const part = (kind: FoundKind, { from, where = "true", version = "null::text" }: Kind): string =>
  `(select '${kind}' as kind, t.id::text as id, t.name, ${version} as version, row_number() over () as ordinal
      from (select t.* from ${from} t
             where t.tenant_id = $1 and ${allowed(kind)} and ${begins("t.name")} and ${where}
             order by lower(t.name) using ~<~, t.id desc limit $4) t)`;

const targetsBy = (column: string): string =>
  `(select t.controller_id, t.name from controller.targets_v1 t
     where t.tenant_id = $1 and ${allowed("targets")} and ${begins(`t.${column}`)} and ${inScope("t.target_type_id", "$5")}
     order by lower(t.${column}) using ~<~ limit $4)`;

/** Each column has an index of its own, so each gives its first ones, of which the first are taken. */
const targets = `(select 'targets' as kind, x.controller_id as id, x.name, null::text as version, row_number() over () as ordinal
    from (select x.* from (${targetsBy("controller_id")} union ${targetsBy("name")}) x
           order by lower(x.name) using ~<~, x.controller_id using ~<~ limit $4) x)`;

type Search = [tenantId: number, text: string, kinds: readonly FoundKind[], limit: number, scope: Scope];

/** Finds the first entities of each kind that is asked for, in one round trip; `scope` limits targets, and rollouts to those that reach no others. */
export const findEntities = statement<Search, FoundRow>(
  "management.find_entities",
  `select kind, id, name, version from (
     ${[
       targets,
       part("distributionSets", { from: "distribution_sets", where: "not t.deleted", version: "t.version" }),
       part("softwareModules", { from: "software_modules", where: "not t.deleted", version: "t.version" }),
       part("rollouts", {
         from: "rollout_engine.rollouts_v1",
         where: `not t.deleted and ${reachesOnly("t.reached_types", "$5")}`,
       }),
       part("targetFilters", { from: "rollout_engine.target_filters_v1", where: "not t.standalone" }),
       part("targetTags", { from: "target_tags" }),
       part("distributionSetTags", { from: "distribution_set_tags" }),
     ].join("\n     union all\n     ")}) found
    order by kind, ordinal`,
);
