import { tally } from "@harrier/contracts";

// What the generators of SQL functions in this folder share: branches, indented lines, the limit of entries, and the statement that writes changes.

export function oneOf(column: string, codes: readonly number[]): string {
  return codes.length === 1 ? `${column} = ${codes[0]}` : `${column} in (${codes.join(", ")})`;
}

export interface Branch {
  /** An empty condition means else. */
  when: string;
  body: readonly string[];
}

/** Builds `if … elsif … else … end if;`. */
export function chain(branches: readonly Branch[]): string {
  const lines = branches.flatMap(({ when, body }, i) => {
    const head = when === "" ? "else" : `${i === 0 ? "if" : "elsif"} ${when} then`;
    return [head, ...body.map((line) => `  ${line}`)];
  });
  return [...lines, "end if;"].join("\n");
}

/**
 * The limit of an action's entries. What ends a silence may exceed it, up to twice as many, as the server's entry of the silence does (contract beyond.md
 * §1.4, §2): or a device whose quota is full would stay silent whatever it does.
 */
export const maxEntries = (limit: string): string => `${limit} * (case when a.tally = ${tally.silent} then 2 else 1 end)`;

/**
 * Builds the statement that writes changes of many actions, each with its history row, and one outbox row for all whose events begin alike. One with
 * several messages has a row of its own, so that no row is much longer than that of one report.
 */
export function recordChangesSql(v: {
  /** The columns that change, of the action `x`. */
  set: string;
  /** The changes: a FROM item `w` with at least `place`, `was` (the status before), `entry` and `safety`. */
  changes: string;
  messages: string;
  code: string;
  occurred: string;
  /** True if an action may leave its bucket of its rollout group's progress. */
  movesBuckets: boolean;
}): string {
  const item = `id, controller_id, revision, was, status, active, force_type, weight, code,
                 nullif(messages, '{}'), (extract(epoch from occurred) * 1000)::bigint, entry`;
  const deltas = `, deltas as (
  insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
  select tenant_id, rollout_id, group_id, action_bucket(was, force_type), action_bucket(status, force_type), count(*)
    from changed
   where rollout_id is not null and action_bucket(was, force_type) <> action_bucket(status, force_type)
   group by 1, 2, 3, 4, 5
)`;
  return `with changed as (
  update actions x
     set ${v.set}
    from ${v.changes}
   where x.tenant_id = p_tenants[w.place] and x.id = p_actions[w.place]
  returning w.place, w.was, w.entry, w.safety, ${v.messages} as messages,
            ${v.code} as code, ${v.occurred} as occurred, x.tenant_id, x.id, x.controller_id,
            x.revision, x.status, x.active, x.force_type, x.weight, x.set_id, x.rollout_id, x.group_id, x.initiated_by
), history as (
  insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
  select tenant_id, id, revision, entry, messages, code, occurred from changed
)${v.movesBuckets ? deltas : ""}
insert into outbox (tenant_id, topic, type, common, items, traceparent)
select c.tenant_id, 'action-events', 'io.update.action.status_changed.v1',
       action_event_common(p_tenant_names[c.place], c.set_id, d.name, d.version, c.rollout_id, c.group_id, c.initiated_by), c.items,
       p_traceparents[c.place]
  from (select min(place) as place, tenant_id, set_id, rollout_id, group_id, initiated_by,
               json_agg(case when safety is null then json_build_array(
                 ${item}) else json_build_array(
                 ${item}, safety) end order by place) as items
          from changed
         group by tenant_id, set_id, rollout_id, group_id, initiated_by, p_traceparents[place],
                  case when cardinality(messages) > 1 then place end) c
  left join management.distribution_sets_v1 d on d.tenant_id = c.tenant_id and d.id = c.set_id;`;
}

/** Indents the lines of a function's body. */
export function indent(lines: string | readonly string[], by: number): string {
  const all = typeof lines === "string" ? lines.split("\n") : lines;
  return all.map((line) => (line === "" ? "" : " ".repeat(by) + line)).join("\n");
}
