/** This is above every id that the services assign during a run. */
const base = 1_000_000_000;

/** Each rare kind of a fleet has this many rows; the rest is spread as unevenly as in real fleets. */
export const rare = 50;

/**
 * Builds a skewed fleet of tenant 1 that is written directly into the database: nearly every target has the common type, set and state, and of every
 * kind there is something that only `rare` targets have. Each has one of them: `n % step` is 0 for a name, 1 a type, 2 a state, 3 a set, 4 a poll
 * long ago, 5 an attribute, 6 a tag.
 */
export function fleetSql(targets: number): string {
  const step = Math.floor(targets / rare);
  const all = `generate_series(1, ${targets}) n`;
  return `
    insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 1) on conflict do nothing;
    insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by)
      values (1, ${base}, 'queries', 'Queries', 'x', 'x');
    insert into management.target_types (tenant_id, id, key, name, created_by, last_modified_by)
      values (1, ${base + 1}, 'rare', 'Rare', 'x', 'x'), (1, ${base + 2}, 'common', 'Common', 'x', 'x');
    insert into management.distribution_sets (tenant_id, id, name, version, type_id, created_by, last_modified_by)
      select 1, ${base} + n, 'queries-' || n, '1', ${base}, 'x', 'x' from generate_series(1, 500) n;
    insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
      select 1, ${base} + n, 'query-' || lpad(((n * 7919::bigint) % 1000003)::text, 7, '0'),
             case when n % ${step} = 0 then 'Rare ' else 'sensor ' end || n, '', '',
             case when n % ${step} = 1 then ${base + 1} when n % 5 > 0 then ${base + 2} end, 'x', 'x' from ${all};
    analyze controller.targets; -- or the checks of foreign keys take it for the empty table that it was, and scan it for every row
    insert into controller.target_state (tenant_id, target_id, update_status, assigned_set_id, installed_set_id)
      select 1, ${base} + n, case when n % ${step} = 2 then 4 when n % 50 = 0 then 2 when n % 12 = 0 then 1 else 3 end,
             case when n % ${step} = 3 then ${base + 500} when n % 3 = 0 then ${base + 2} + n % 30 when n % 3 = 1 then ${base + 1} end,
             ${base + 1} from ${all};
    insert into controller.target_polls (tenant_id, target_id, last_poll_at)
      select 1, ${base} + n, now() - case when n % ${step} = 4 then interval '9 days' else (n % 400) * interval '1 second' end
        from ${all} where n % 40 > 0 or n % ${step} = 4;
    insert into controller.target_attributes (tenant_id, target_id, key, value)
      select 1, ${base} + n, 'hw', case when n % ${step} = 5 then 'Rev Z' else 'rev ' || n % 4 end from ${all}
      union all select 1, ${base} + n, 'serial', md5(n::text) from ${all};
    create schema queries;
    create table queries.tags (tenant_id int, id bigint, name text, primary key (tenant_id, id));
    create table queries.tag_links (tenant_id int, target_id int, tag_id bigint, primary key (tenant_id, target_id, tag_id));
    create index tag_links_tag on queries.tag_links (tenant_id, tag_id, target_id);
    grant usage on schema queries to public;
    grant select on all tables in schema queries to public;
    insert into queries.tags select 1, n, 'tag-' || n from generate_series(1, 40) n;
    insert into queries.tag_links select 1, ${base} + n, 1 + n % 7 from ${all} where n % 2 = 0
      union all select 1, ${base} + n, 40 from ${all} where n % ${step} = 6;`;
}

/** This leaves statistics and visibility as autovacuum does. */
export const settle =
  "vacuum analyze controller.targets, controller.target_state, controller.target_polls, controller.target_attributes, " +
  "queries.tags, queries.tag_links, management.distribution_sets, management.target_types";

const page = (from: string) => `
  select t.controller_id, t.name, t.description, t.address, s.update_status, s.installed_at, p.last_poll_at, y.name as type_name
    from (${from}) f
    join controller.targets t on t.tenant_id = 1 and t.id = f.id
    join controller.target_state s on s.tenant_id = 1 and s.target_id = t.id
    left join controller.target_polls p on p.tenant_id = 1 and p.target_id = t.id
    left join management.target_types y on y.tenant_id = 1 and y.id = t.target_type_id
   order by t.controller_id`;

const first50 = "order by controller_id limit 50";
const ofTargets = (where: string) => `from controller.targets t where t.tenant_id = 1 and ${where}`;
const idsIn = (from: string) => ofTargets(`t.id in (select target_id from ${from})`);

/** A question in the query language, and the beginning of the best statements known for it: ids by hand, over the tables themselves. */
export interface Question {
  name: string;
  q: string;
  from: string;
}

export const questions: readonly Question[] = [
  { name: "name prefix", q: "name==rare*", from: ofTargets("lower(t.name) like 'rare%'") },
  {
    name: "attribute",
    q: "attribute.hw=='rev z'",
    from: idsIn("controller.target_attributes where tenant_id = 1 and lower(key) = 'hw' and lower(value) = 'rev z'"),
  },
  { name: "tag", q: "tag==tag-40", from: idsIn("queries.tag_links where tenant_id = 1 and tag_id = 40") },
  { name: "type", q: "targettype==rare", from: ofTargets(`t.target_type_id = ${base + 1}`) },
  { name: "update status", q: "updatestatus==error", from: idsIn("controller.target_state where tenant_id = 1 and update_status = 4") },
  {
    name: "assigned set",
    q: "assignedds.name==queries-500",
    from: idsIn(`controller.target_state where tenant_id = 1 and assigned_set_id = ${base + 500}`),
  },
  {
    name: "last poll",
    q: ["lastcontrollerrequestat=le=$", "{overdue_ts}"].join(""),
    from: idsIn(
      `controller.target_polls where tenant_id = 1 and poll_bucket <= extract(epoch from now() - interval '1 day')::bigint / 3600
         and last_poll_at <= now() - interval '1 day'`,
    ),
  },
];

export const best = {
  page: ({ from }: Question): string => page(`select t.id ${from} ${first50}`),
  count: ({ from }: Question): string => `select count(*) ${from}`,
  pageOfAll: (offset: number): string => page(`select t.id ${ofTargets("true")} ${first50} offset ${offset}`),
  countOfAll: `select count(*) ${ofTargets("true")}`,
};
