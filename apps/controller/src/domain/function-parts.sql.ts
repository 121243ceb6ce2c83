// What the generators of SQL functions in this folder share: branches, indented lines, and the statements that each of the functions has.

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

/** Builds SQL that inserts the history row and the outbox row of one change of one action; the variables it reads are those of the caller. */
export function recordChangeSql(v: {
  status: string;
  active: string;
  entry: string;
  messages: string;
  code: string;
  occurred: string;
  /** What its event says of the watch, or null; without it the change concerns none. */
  safety?: string;
}): string {
  const item = `a.id, a.controller_id, a.revision + 1, a.status, ${v.status}, ${v.active}, a.force_type, a.weight, ${v.code},
         nullif(${v.messages}, '{}'), (extract(epoch from ${v.occurred}) * 1000)::bigint, ${v.entry}`;
  const items = v.safety
    ? `case when ${v.safety} is null then json_build_array(
         ${item}) else json_build_array(
         ${item}, ${v.safety}) end`
    : `json_build_array(
         ${item})`;
  return `insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
values (p_tenant, a.id, a.revision + 1, ${v.entry}, ${v.messages}, ${v.code}, ${v.occurred});

insert into outbox (tenant_id, topic, type, common, items, traceparent)
select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
       action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
       json_build_array(${items}),
       p_traceparent
  from (select 1) one
  left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;`;
}

/** Builds lines that find the action of the target into `a`, or fail with the reason. */
export function findActionSql(options: { targetId: string; lock?: string; fail: (outcome: string) => string }): string[] {
  const { targetId, lock = "", fail } = options;
  return [
    `select * into a from actions where tenant_id = p_tenant and id = p_action and target_id = ${targetId}${lock};`,
    "if not found then",
    "  perform from actions where tenant_id = p_tenant and id = p_action;",
    `  ${fail("case when found then 'foreignAction' else 'actionNotFound' end")}`,
    "end if;",
  ];
}

/** Indents the lines of a function's body. */
export function indent(lines: string | readonly string[], by: number): string {
  const all = typeof lines === "string" ? lines.split("\n") : lines;
  return all.map((line) => (line === "" ? "" : " ".repeat(by) + line)).join("\n");
}
