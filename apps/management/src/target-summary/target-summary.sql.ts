import type { SummaryField } from "@harrier/contracts";
import type { CompiledQuery } from "@harrier/db";
import { epochMs, jsonObject, type PageSource, type Scope } from "@harrier/query";

/** One facet: its place in the request, its first values, and how many targets have another value or none. */
export interface FacetRow {
  facet: number;
  values: { value: string; label: string | null; count: number }[];
  other: number;
  without: number;
  countedAt: number | null;
}

/** Where the words of a key are: sets and types by their id, tags too. */
interface Labels {
  join: string;
  value: string;
  label: string;
}

const setLabels: Labels = {
  join: "left join distribution_sets l on l.tenant_id = $1 and l.id = r.key::bigint",
  value: "r.key",
  label: "l.name || ':' || l.version",
};
const plainLabels: Labels = { join: "", value: "r.key", label: "null::text" };
const labelsOf: Readonly<Record<string, Labels>> = {
  installedds: setLabels,
  assignedds: setLabels,
  targettype: {
    join: "left join target_types l on l.tenant_id = $1 and l.id = r.key::bigint",
    value: "coalesce(l.key, r.key)",
    label: "l.name",
  },
  tag: {
    join: "left join target_tags l on l.tenant_id = $1 and l.id = r.key::bigint",
    value: "coalesce(l.name, r.key)",
    label: "null::text",
  },
};

/**
 * Makes one row of a facet from `select key, n`, in which a null key stands for the targets without a value. The words are looked up for the first
 * values alone.
 */
function facetOf(
  facet: number,
  field: SummaryField,
  { counts, top, countedAt }: { counts: string; top: number; countedAt: string },
): string {
  const { join, value, label } = labelsOf[field] ?? plainLabels;
  const item = jsonObject({ value, label, count: "r.n" });
  return `select ${facet} as facet,
       coalesce(jsonb_agg(${item} order by r.place) filter (where r.place <= ${top} and r.key is not null), '[]'::jsonb) as values,
       coalesce(sum(r.n) filter (where r.place > ${top} and r.key is not null), 0)::bigint as other,
       coalesce(sum(r.n) filter (where r.key is null), 0)::bigint as without, ${countedAt} as "countedAt"
  from (select c.key, c.n, row_number() over (order by c.key is null, c.n desc, c.key) as place from (${counts}) c where c.n > 0) r
  ${join === "" ? "" : join.replace(" on ", ` on r.place <= ${top} and `)}`;
}

/** The kinds of `controller.fleet_counts_v1` by the field that they count; the type of a target is kept with each count. */
const countedKinds: Readonly<Partial<Record<SummaryField, number>>> = {
  updatestatus: 0,
  installedds: 1,
  assignedds: 2,
  overdue: 3,
  targettype: 0,
};
const allTargets = 0;

/** Whether the background counts of the fleet answer this field. */
export const isCounted = (field: SummaryField): boolean => countedKinds[field] !== undefined;

/** Reads facets of the whole fleet from its counts; there is no row where it has not been counted yet. */
export function countedFacets(
  tenantId: number,
  scope: Scope,
  request: { by: readonly [number, SummaryField][]; top: number },
): CompiledQuery<FacetRow> {
  const ofKind = (kind: number, key: string) =>
    `select ${key} as key, sum(c.n) as n from controller.fleet_counts_v1 c
      where c.tenant_id = $1 and c.kind = ${kind} and ($2::bigint[] is null or c.type_id = any($2::bigint[])) group by 1`;
  const remaining = (kind: number, key: string) =>
    `select ${key} as key, sum(case c.kind when ${allTargets} then c.n else -c.n end) as n from controller.fleet_counts_v1 c
      where c.tenant_id = $1 and c.kind in (${allTargets}, ${kind}) and ($2::bigint[] is null or c.type_id = any($2::bigint[]))`;
  const counts = (field: SummaryField): string => {
    const kind = countedKinds[field] ?? allTargets;
    if (field === "updatestatus") return ofKind(kind, "c.key::text");
    if (field === "targettype") return ofKind(kind, "nullif(c.type_id, 0)::text");
    if (field === "overdue") return `${ofKind(kind, "'true'")} union all ${remaining(kind, "'false'")}`;
    return `${ofKind(kind, "c.key::text")} union all ${remaining(kind, "null::text")}`;
  };
  const facets = request.by.map(([facet, field]) =>
    facetOf(facet, field, { counts: counts(field), top: request.top, countedAt: epochMs("w.counted_at") }),
  );
  const each = facets.map(
    (sql) =>
      `select f.* from controller.fleet_walks_v1 w cross join lateral (${sql}) f where w.tenant_id = $1 and w.counted_at is not null`,
  );
  return { sql: each.join(" union all "), bindings: [tenantId, scope] };
}

/** Counts the matching targets themselves; `overdueAt` is the time in epoch ms since when a target that has not polled is overdue. */
export function exactFacets(
  { from, where, values }: PageSource,
  request: { by: readonly [number, SummaryField][]; top: number; overdueAt: number | undefined },
): CompiledQuery<FacetRow> {
  const bindings = [...values];
  const bind = (value: unknown) => `$${bindings.push(value)}`;
  const many = (relation: string, key: string, condition: string) =>
    `select ${key} as key, count(*) as n from m join ${relation} e on e.tenant_id = $1 and e.target_id = m.id and ${condition} group by 1
     union all select null, count(*) from m where not exists (select from ${relation} e where e.tenant_id = $1 and e.target_id = m.id and ${condition})`;
  const counts = (field: SummaryField): string => {
    if (field === "tag") {
      const links =
        "(select k.* from controller.target_tag_links_v1 k join target_tags g on g.tenant_id = k.tenant_id and g.id = k.tag_id)";
      return many(links, "e.tag_id::text", "true");
    }
    if (field === "overdue")
      return `select case when m.last_poll_at <= to_timestamp(${bind(request.overdueAt)}::bigint / 1000.0) then 'true' else 'false' end as key,
                     count(*) as n from m group by 1`;
    const column = columnOf[field];
    if (column !== undefined) return `select m.${column}::text as key, count(*) as n from m group by 1`;
    const key = bind(field.slice("attribute.".length));
    return many("controller.target_attributes_v1", "e.value", `lower(e.key) = lower(${key})`);
  };
  const facets = request.by.map(([facet, field]) =>
    facetOf(facet, field, { counts: counts(field), top: request.top, countedAt: "null::bigint" }),
  );
  const matches = `with m as materialized (
    select t.id, t.update_status, t.target_type_id, t.installed_set_id, t.assigned_set_id, t.last_poll_at from ${from} t where ${where})`;
  return { sql: `${matches} ${facets.join(" union all ")}`, bindings };
}

const columnOf: Readonly<Partial<Record<SummaryField, string>>> = {
  updatestatus: "update_status",
  targettype: "target_type_id",
  installedds: "installed_set_id",
  assignedds: "assigned_set_id",
};
