import { statement } from "@harrier/db";
import { type PageSource, selectList } from "@harrier/query";
import { setColumns, setJoins } from "../rows/set.ts";
import { type TagRow, tagColumns } from "./tags.sql.ts";

/** Lists the sets that have a tag; with a query soft-deleted ones are left out (contract management.md §4.9). `known` says that the tag exists. */
export const setsOfTag = (tenantId: number, tagId: number, withDeleted: boolean): PageSource => ({
  from: "distribution_sets",
  columns: setColumns,
  joins: setJoins,
  where: `t.tenant_id = $1${withDeleted ? "" : " and not t.deleted"}
    and exists (select from distribution_set_tag_links l where l.tenant_id = t.tenant_id and l.set_id = t.id and l.tag_id = $2)`,
  values: [tenantId, tagId],
  known: "exists (select from distribution_set_tags o where o.tenant_id = $1 and o.id = $2)",
});

/** Lists the tags of a set; one without tags gives one row with no tag, an unknown one none. */
export const tagsOfSet = statement<[tenantId: number, setId: number], TagRow | { id: null }>(
  "management.tags_of_set",
  `select ${selectList(tagColumns)}
     from distribution_sets s
     left join (distribution_set_tag_links l join distribution_set_tags t on t.tenant_id = l.tenant_id and t.id = l.tag_id)
       on l.tenant_id = s.tenant_id and l.set_id = s.id
    where s.tenant_id = $1 and s.id = $2
    order by t.name, t.id`,
);

/** Returns those of some sets that exist, and whether each has the tag. */
export const setsWithTag = statement<[tenantId: number, tagId: number, setIds: readonly number[]], { id: number; tagged: boolean }>(
  "management.sets_with_tag",
  `select s.id, exists (select from distribution_set_tag_links l where l.tenant_id = $1 and l.set_id = s.id and l.tag_id = $2) as tagged
     from distribution_sets s where s.tenant_id = $1 and s.id = any($3::bigint[])`,
);

export interface ChangeTagRow {
  /** This says that the tag exists. */
  known: boolean;
  /** This is the first set that does not exist. */
  missing: number | null;
}

// The rows are locked, because neither the tag nor a set may vanish before the link is stored, and the events of a set keep its order.
const found = `with tag as (
     select id from distribution_set_tags where tenant_id = $1 and id = $2 for key share),
   requested as (
     select distinct i.id from unnest($3::bigint[]) as i(id)),
   present as (
     select s.id from distribution_sets s where s.tenant_id = $1 and s.id = any($3::bigint[]) order by s.id for no key update),
   missing as (
     select min(a.id) as id from requested a where a.id not in (select id from present))`;

const told = (changed: string) => `told as (
     update distribution_sets s set revision = s.revision + 1 from ${changed} c where s.tenant_id = $1 and s.id = c.set_id)`;

const answer = `select exists (select from tag) as known, (select id from missing) as missing`;

/** Gives a tag to sets; where the tag or one of the sets does not exist, none gets it. */
export const tagSets = statement<[tenantId: number, tagId: number, setIds: readonly number[]], ChangeTagRow>(
  "management.tag_sets",
  `${found},
   linked as (
     insert into distribution_set_tag_links (tenant_id, set_id, tag_id)
     select $1, p.id, g.id from present p, tag g where (select id from missing) is null
     on conflict do nothing returning set_id),
   ${told("linked")}
   ${answer}`,
);

/** Takes a tag from sets; where the tag or one of the sets does not exist, none loses it. */
export const untagSets = statement<[tenantId: number, tagId: number, setIds: readonly number[]], ChangeTagRow>(
  "management.untag_sets",
  `${found},
   unlinked as (
     delete from distribution_set_tag_links l using tag g
      where l.tenant_id = $1 and l.tag_id = g.id and l.set_id = any($3::bigint[]) and (select id from missing) is null
     returning l.set_id),
   ${told("unlinked")}
   ${answer}`,
);
