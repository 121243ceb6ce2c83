import { type ActionStatusName, actionStatus } from "@harrier/contracts";
import { devicePrincipal } from "./codes.ts";
import { type Branch, chain, indent, maxEntries, oneOf, recordChangesSql } from "./function-parts.sql.ts";
import { effectBranch, isDownloadOnly } from "./target-effects.sql.ts";
import {
  channels,
  effectsWithMultiAssignment,
  endStatuses,
  executions,
  type Gate,
  gates,
  type Rule,
  results,
  rules,
  targetEffects,
} from "./transitions.ts";

/*
 * This file writes the SQL function `record_reports` from the transition table: reports that arrive together are one call and one round trip, and each
 * of its statements is for all of them. Every fragment below has its counterpart in decide-report.ts; the cell test compares the two on real
 * PostgreSQL.
 */

const code = (name: ActionStatusName): number => actionStatus[name];

/** Answers a report that changes nothing. */
const answer = (outcome: string): string => `v_outcomes[r.place] := '${outcome}'; continue;`;

function gateBranch(gate: Gate): Branch {
  const conditions = [
    ...(gate.status ? [oneOf("a.status", gate.status.map(code))] : []),
    ...(gate.active === undefined ? [] : [gate.active ? "a.active" : "not a.active"]),
  ];
  if (gate.verdict === "proceed") return { when: conditions.join(" and "), body: ["null;"] };
  return { when: conditions.join(" and "), body: [answer(gate.verdict === "ignore" ? "ok" : gate.verdict)] };
}

function gateSql(): string {
  return chain(
    channels.map((channel, i) => ({
      when: `v_channel = ${i}`,
      body: chain(gates[channel].map(gateBranch)).split("\n"),
    })),
  );
}

function nextSql(next: Rule["next"]): string {
  if (next === "keep") return "a.status";
  if (next === "runUnlessCanceling") return `case when a.status = ${code("CANCELING")} then a.status else ${code("RUNNING")} end`;
  return String(code(next));
}

function ruleBranch(rule: Rule): Branch {
  const when = [
    `v_channel = ${channels.indexOf(rule.channel)}`,
    oneOf(
      "v_execution",
      rule.executions.map((e) => executions.indexOf(e)),
    ),
    ...(rule.results
      ? [
          oneOf(
            "v_result",
            rule.results.map((r) => results.indexOf(r)),
          ),
        ]
      : []),
    ...(rule.downloadOnly ? [isDownloadOnly] : []),
  ].join(" and ");
  const body = [
    `-- ${rule.channel}: ${rule.executions.join(", ")} (${rule.results?.join(", ") ?? "any"})${rule.downloadOnly ? ", download only" : ""}`,
    `v_entry := ${code(rule.entry)}; -- ${rule.entry}`,
    `v_next := ${nextSql(rule.next)};`,
    ...(rule.effect === "none" ? [] : [`v_effect := '${rule.effect}';`]),
    ...(rule.entriesFree ? ["v_entries_free := true;"] : []),
    ...(rule.messagesFree ? ["v_messages_free := true;"] : []),
  ];
  return { when, body };
}

const declarations = `create or replace function record_reports(
  p_tenants int[], p_controller_ids text[], p_actions bigint[],
  p_channels smallint[], p_executions smallint[], p_results smallint[], -- places in the lists of src/domain/transitions.ts
  p_codes int[], p_messages text[], p_message_counts int[],             -- the messages of all reports, one after the other
  p_occurred_ms float8[], p_max_entries int[], p_max_messages int[],    -- 0 or less: no limit
  p_tenant_names text[], p_traceparents text[]
) returns text[] language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $reports$
declare
  v_outcomes text[] := array_fill('busy'::text, array[cardinality(p_tenants)]);
  v_messages_end int[] := p_message_counts; -- where the messages of each report end
  -- the targets that are locked, each with its report, in the order of the reports
  v_places int[] := '{}';
  v_targets int[] := '{}';
  v_keys bigint[] := '{}';    -- of tenant and target
  v_turns int[] := '{}';      -- a second report for the same target has the second turn
  v_last_turn int := 0;
  v_key bigint;
  r record;
  t target_state;
  v_was target_state; -- the target before the report
  a actions;
  v_channel smallint;
  v_execution smallint;
  v_result smallint;
  v_entry smallint;
  v_next smallint;
  v_effect text;
  v_entries_free boolean;
  v_messages_free boolean;
  v_tally smallint;
  v_safety json;
  -- what the reports of a turn change
  w_targets target_state[];
  w_places int[];
  w_was smallint[];
  w_next smallint[];
  w_active boolean[];
  w_tallies smallint[];
  w_entries smallint[];
  w_safeties json[];
begin
  for i in 2 .. cardinality(v_messages_end) loop
    v_messages_end[i] := v_messages_end[i - 1] + v_messages_end[i];
  end loop;
  -- the targets' rows are locked first: that is the lock order of the whole service
  for r in
    select i.place::int as place, s.target_id, s.tenant_id
      from unnest(p_tenants, p_controller_ids) with ordinality as i (tenant_id, controller_id, place)
      join targets g on g.tenant_id = i.tenant_id and g.controller_id = i.controller_id
      join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
     order by i.place
       for no key update of s skip locked
  loop
    v_outcomes[r.place] := 'actionNotFound';
    v_key := (r.tenant_id::bigint << 32) + r.target_id;
    v_turns := v_turns || (1 + coalesce(cardinality(array_positions(v_keys, v_key)), 0));
    v_keys := v_keys || v_key;
    v_targets := v_targets || r.target_id;
    v_places := v_places || r.place;
    v_last_turn := greatest(v_last_turn, v_turns[cardinality(v_turns)]);
  end loop;
`;

const quotas = `if not v_messages_free and p_max_messages[r.place] > 0 and p_message_counts[r.place] > p_max_messages[r.place] then
  ${answer("tooManyMessages")}
end if;
if not v_entries_free and p_max_entries[r.place] > 0 and a.revision >= ${maxEntries("p_max_entries[r.place]")} then
  ${answer("tooManyEntries")}
end if;`;

const readTurn = `select l.place, s as target, x as action,
       exists (select from action_watches w where w.tenant_id = x.tenant_id and w.target_id = x.target_id) as watched,
       exists (select from target_polls p where p.tenant_id = x.tenant_id and p.target_id = x.target_id) as polled
  from unnest(v_places, v_targets, v_turns) as l (place, target_id, turn)
  join target_state s on s.tenant_id = p_tenants[l.place] and s.target_id = l.target_id
  join actions x on x.tenant_id = p_tenants[l.place] and x.id = p_actions[l.place] and x.target_id = l.target_id
 where l.turn = v_turn
   for no key update of x`;

/** Notes what a report changes, for the statements that write it for all of a turn. */
const note = `if t is distinct from v_was then w_targets := w_targets || t; end if;
w_places := w_places || r.place;
w_was := w_was || a.status;
w_next := w_next || v_next;
w_active := w_active || not (${oneOf("v_next", endStatuses.map(code))});
w_tallies := w_tallies || v_tally;
w_entries := w_entries || v_entry;
w_safeties := w_safeties || v_safety;
-- Last polls are written after the polls; the first one of a new device is stored with its first report at the latest.
if not r.polled then perform record_poll(t.tenant_id, t.target_id); end if;
v_outcomes[r.place] := 'ok';`;

const writes = `${recordChangesSql({
  set: `status = w.next, active = w.active, tally = w.tally, last_status_code = p_codes[w.place], revision = x.revision + 1,
         last_modified_by = '${devicePrincipal}', last_modified_at = now()`,
  changes:
    "unnest(w_places, w_was, w_next, w_active, w_tallies, w_entries, w_safeties) as w (place, was, next, active, tally, entry, safety)",
  messages: "p_messages[v_messages_end[w.place] - p_message_counts[w.place] + 1 : v_messages_end[w.place]]",
  code: "p_codes[w.place]",
  occurred: "to_timestamp(p_occurred_ms[w.place] / 1000)",
  movesBuckets: true,
})}
if cardinality(w_targets) > 0 then
  -- The installedBase link is that of the newest of the set's finished actions; only a report that installs has set this moment.
  update target_state s
     set update_status = n.update_status, assigned_set_id = n.assigned_set_id, installed_set_id = n.installed_set_id,
         installed_at = n.installed_at, request_attributes = n.request_attributes, revision = s.revision + 1,
         installed_action_id = case when n.installed_at = now() then greatest(n.installed_action_id, (
           select max(o.id) from actions o
            where o.tenant_id = n.tenant_id and o.target_id = n.target_id and o.set_id = n.installed_set_id and o.status = ${code("FINISHED")}))
           else n.installed_action_id end
    from unnest(w_targets) n
   where s.tenant_id = n.tenant_id and s.target_id = n.target_id;
end if;`;

/** Builds the whole function, for its file. */
export function reportFunctionSql(): string {
  const effects = [
    ...Object.entries(effectsWithMultiAssignment).map(([name, effect]) =>
      effectBranch(`v_effect = '${name}' and a.multi_assignment`, effect, "a.id"),
    ),
    ...Object.entries(targetEffects)
      .filter(([name]) => name !== "none")
      .map(([name, effect]) => effectBranch(`v_effect = '${name}'`, effect, "a.id")),
  ];
  const noRule = { when: "", body: ["raise exception 'no rule for report % %/%', v_channel, v_execution, v_result;"] };
  return `${declarations}
  for v_turn in 1 .. v_last_turn loop
    w_targets := '{}'; w_places := '{}'; w_was := '{}'; w_next := '{}'; w_active := '{}'; w_tallies := '{}'; w_entries := '{}'; w_safeties := '{}';
    for r in
${indent(readTurn, 6)}
    loop
      t := r.target;
      v_was := r.target;
      a := r.action;
      v_channel := p_channels[r.place];
      v_execution := p_executions[r.place];
      v_result := p_results[r.place];
      v_effect := 'none';
      v_entries_free := false;
      v_messages_free := false;
${indent(gateSql(), 6)}

${indent(chain([...rules.map(ruleBranch), noRule]), 6)}
${indent(quotas, 6)}

      v_tally := a.tally;
      v_safety := null;
      -- A claim ends the proof of an earlier one. What a policy makes of the report is decided with it (functions/watches.sql).
      if v_effect = 'installed' and r.watched then perform end_other_proofs(t.tenant_id, p_tenant_names[r.place], t.target_id, a.id, p_traceparents[r.place]); end if;
      if a.policy_id is not null then
        select x.effect, x.tally into v_effect, v_tally from watch_report(t.tenant_id, a, t, v_next, v_entry, v_effect, p_codes[r.place]) x;
        if v_tally <> a.tally then v_safety := tally_change(t.tenant_id, a, v_tally); end if;
      end if;

${indent(chain(effects), 6)}

${indent(note, 6)}
    end loop;

    if cardinality(w_places) > 0 then
${indent(writes, 6)}
    end if;
  end loop;

  if 'actionNotFound' = any (v_outcomes) then
    for r in
      select i.place from unnest(p_tenants, p_actions, v_outcomes) with ordinality as i (tenant_id, action_id, outcome, place)
        join actions x on x.tenant_id = i.tenant_id and x.id = i.action_id
       where i.outcome = 'actionNotFound'
    loop
      v_outcomes[r.place] := 'foreignAction';
    end loop;
  end if;
  return v_outcomes;
end
$reports$;
`;
}
