import { targetFields } from "@harrier/fiql";
import { narrow, type PageSource, pageStatement } from "@harrier/query";
import type pg from "pg";
import { countedFacets } from "../../../../apps/management/src/target-summary/target-summary.sql.ts";
import { targetList } from "../../../../apps/management/src/targets/targets.sql.ts";
import type { Sql } from "./ask.ts";

/** Adds what full rows show to the fleet of `fleetSql`: an open action for each tenth target, and one of forty tags for every second. */
export const readsSql = `
  insert into management.target_tags (tenant_id, id, name, created_by, last_modified_by)
    select 1, 1000000000 + n, 'reads-' || n, 'x', 'x' from generate_series(1, 40) n;
  insert into controller.target_tag_links (tenant_id, target_id, tag_id)
    select 1, t.id, 1000000001 + t.id % 40 from controller.targets t where t.tenant_id = 1 and t.id % 2 = 0;
  insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by,
                                  last_modified_by)
    select 1, t.id, t.id, t.controller_id, 1000000002, 3, true, 1, 'x', 'x', 'x'
      from controller.targets t where t.tenant_id = 1 and t.id % 10 = 0;`;

export const settleReads =
  "vacuum analyze controller.target_tag_links, controller.actions, controller.action_history, management.target_tags";

const order = "t.controller_id asc";

/** Builds management's statement for a page of all targets. */
export function pageOfAll(
  size: number,
  { full = false, ...window }: Partial<Parameters<typeof pageStatement>[1]> & { full?: boolean } = {},
): Sql {
  const source: PageSource = targetList(1, null, full);
  const { sql, bindings } = pageStatement(source, { orderBy: order, limit: size, offset: 0, ...window });
  return { text: sql, values: [...bindings] };
}

/** Builds management's statement for an uncounted page of the targets that match. */
export async function searchedPage(client: pg.Client, q: string, size: number): Promise<Sql> {
  const kind = { source: targetList(1, null), fields: targetFields };
  const source = await narrow({ db: client, now: Date.now }, kind, q);
  const { sql, bindings } = pageStatement(source, { orderBy: order, limit: size, offset: 0, total: "none", positions: true });
  return { text: sql, values: [...bindings] };
}

/** The best statements known for the same pages, over the tables themselves. */
export const bestReads = {
  plain: (size: number, after = ""): string => `
    select t.*, s.*, p.last_poll_at, y.name as type_name
      from (select id from controller.targets where tenant_id = 1 and controller_id > '${after}' order by controller_id limit ${size}) f
      join controller.targets t on t.tenant_id = 1 and t.id = f.id
      join controller.target_state s on s.tenant_id = 1 and s.target_id = f.id
      left join controller.target_polls p on p.tenant_id = 1 and p.target_id = f.id
      left join management.target_types y on y.tenant_id = 1 and y.id = t.target_type_id
     order by t.controller_id`,
  ofStatus: (size: number, status: number): string => `
    select t.*, s.*, p.last_poll_at, y.name as type_name
      from controller.targets t
      join controller.target_state s on s.tenant_id = 1 and s.target_id = t.id and s.update_status = ${status}
      left join controller.target_polls p on p.tenant_id = 1 and p.target_id = t.id
      left join management.target_types y on y.tenant_id = 1 and y.id = t.target_type_id
     where t.tenant_id = 1 order by t.controller_id limit ${size}`,
  full: (size: number): string => `
    select t.*, s.*, p.last_poll_at, y.name as type_name, a1.name, a1.version, a2.name, a2.version, o.*, g.tags
      from (select id from controller.targets where tenant_id = 1 order by controller_id limit ${size}) f
      join controller.targets t on t.tenant_id = 1 and t.id = f.id
      join controller.target_state s on s.tenant_id = 1 and s.target_id = f.id
      left join controller.target_polls p on p.tenant_id = 1 and p.target_id = f.id
      left join management.target_types y on y.tenant_id = 1 and y.id = t.target_type_id
      left join management.distribution_sets a1 on a1.tenant_id = 1 and a1.id = s.assigned_set_id
      left join management.distribution_sets a2 on a2.tenant_id = 1 and a2.id = s.installed_set_id
      left join lateral (select x.id, x.status, x.rollout_id, x.created_at from controller.actions x
                          where x.tenant_id = 1 and x.target_id = f.id and x.active order by x.weight desc, x.id limit 1) o on true
      left join lateral (select json_agg(json_build_array(m.id, m.name, m.colour)) as tags from controller.target_tag_links l
                           join management.target_tags m on m.tenant_id = 1 and m.id = l.tag_id
                          where l.tenant_id = 1 and l.target_id = f.id) g on true
     order by t.controller_id`,
};

/** Counts the fleet as the background does, in one walk. */
export const countFleet = (targets: number): string => `
  set search_path to controller;
  insert into fleet_walks (tenant_id) values (1) on conflict (tenant_id) do update set due_at = now(), cursor_id = -1;
  delete from fleet_counts where tenant_id = 1;
  select count_fleets(array[1], array[now() - interval '1 day'], ${targets + 1});
  reset search_path;`;

const { sql, bindings } = countedFacets(1, null, { by: [[0, "updatestatus"]], top: 20 });
/** management's statement for the counts by update status. */
export const summaryByStatus: Sql = { text: sql, values: [...bindings] };

/** The same counted now, from the narrowest index: what the statement above spares. */
export const bestSummary = "select update_status, count(*) from controller.target_state where tenant_id = 1 group by 1";
