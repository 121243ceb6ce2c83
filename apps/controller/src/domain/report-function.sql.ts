import { type ActionStatusName, actionStatus, forceType, tally, updateStatus } from "@harrier/contracts";
import { devicePrincipal } from "./codes.ts";
import { type Branch, chain, findActionSql, indent, oneOf, recordChangeSql } from "./function-parts.sql.ts";
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
  type TargetEffect,
  targetEffects,
} from "./transitions.ts";

/*
 * This file writes the SQL function `report` from the transition table: one report is one call and one round trip. Every fragment below has its
 * counterpart in decide-report.ts; the cell test compares the two on real PostgreSQL.
 */

const code = (name: ActionStatusName): number => actionStatus[name];
const isDownloadOnly = `a.force_type = ${forceType.downloadonly}`;

function gateBranch(gate: Gate): Branch {
  const conditions = [
    ...(gate.status ? [oneOf("a.status", gate.status.map(code))] : []),
    ...(gate.active === undefined ? [] : [gate.active ? "a.active" : "not a.active"]),
  ];
  if (gate.verdict === "proceed") return { when: conditions.join(" and "), body: ["null;"] };
  return { when: conditions.join(" and "), body: [`return '${gate.verdict === "ignore" ? "ok" : gate.verdict}';`] };
}

function gateSql(): string {
  return chain(
    channels.map((channel, i) => ({
      when: `p_channel = ${i}`,
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
    `p_channel = ${channels.indexOf(rule.channel)}`,
    oneOf(
      "p_execution",
      rule.executions.map((e) => executions.indexOf(e)),
    ),
    ...(rule.results
      ? [
          oneOf(
            "p_result",
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

const otherOpen = "from actions o where o.tenant_id = p_tenant and o.target_id = t.target_id and o.active and o.id <> a.id";

// An update that is not proven yet has not ended for its target (contract beyond.md §1.3).
const proving = "proving_set(p_tenant, t.target_id, a.id)";
const nextOpen = `(select o.set_id ${otherOpen} order by o.id limit 1), ${proving}`;
const somethingOpen = `(exists (select ${otherOpen}) or ${proving} is not null)`;

const assignedSql: Record<TargetEffect["assigned"], string | undefined> = {
  keep: undefined,
  none: "t.assigned_set_id := null;",
  noneIfOwnSet: "if t.assigned_set_id = a.set_id then t.assigned_set_id := null; end if;",
  ownSetIfDownloadOnly: `if ${isDownloadOnly} then t.assigned_set_id := a.set_id; end if;`,
  nextOpenOrInstalled: `t.assigned_set_id := coalesce(${nextOpen}, t.installed_set_id);`,
  nextOpenOrOwnSet: `t.assigned_set_id := coalesce(${nextOpen}, a.set_id);`,
  nextOpenOrKeep: `t.assigned_set_id := coalesce(${nextOpen}, t.assigned_set_id);`,
};

// The server's clock orders installations: a device with a wrong clock must not keep an old set (contract device.md §7.2, "Timestamp trap").
const installedSql: Record<TargetEffect["installed"], string | undefined> = {
  keep: undefined,
  ownSet: `t.installed_set_id := a.set_id;
t.installed_at := now();
t.installed_action_id := greatest(a.id, (
  select max(o.id) from actions o
   where o.tenant_id = p_tenant and o.target_id = t.target_id and o.set_id = a.set_id and o.status = ${code("FINISHED")}));`,
};

const inSync = `t.update_status := ${updateStatus.in_sync};`;
const updateStatusSql: Record<TargetEffect["updateStatus"], string | undefined> = {
  keep: undefined,
  error: `t.update_status := ${updateStatus.error};`,
  errorIfNothingElse: `if t.assigned_set_id is null then t.update_status := ${updateStatus.error}; end if;`,
  inSync,
  inSyncIfAssignedIsInstalled: `if t.assigned_set_id = t.installed_set_id then ${inSync} end if;`,
  inSyncIfNothingOpen: `if not ${somethingOpen} then ${inSync} end if;`,
  pendingWhileOpen: `t.update_status := case when ${somethingOpen} then ${updateStatus.pending} else ${updateStatus.in_sync} end;`,
};

/** Builds the branch that changes the target's row `t` as the effect says. */
export function effectBranch(when: string, effect: TargetEffect): Branch {
  const steps = [
    // installed precedes updateStatus, which compares with it; assigned reads the installed set as it was, where it reads it.
    assignedSql[effect.assigned],
    installedSql[effect.installed],
    updateStatusSql[effect.updateStatus],
    effect.requestAttributes === "ask" ? "t.request_attributes := true;" : undefined,
  ];
  return { when, body: steps.filter((step) => step !== undefined).flatMap((step) => step.split("\n")) };
}

const declarations = `create or replace function report(
  p_tenant int, p_controller_id text, p_action bigint,
  p_channel smallint, p_execution smallint, p_result smallint, -- places in the lists of src/domain/transitions.ts
  p_code int, p_messages text[], p_occurred timestamptz,
  p_max_entries int, p_max_messages int,                       -- 0 or less: no limit
  p_tenant_name text, p_traceparent text
) returns text language plpgsql as $report$
declare
  t target_state;
  was target_state;
  a actions;
  v_entry smallint;
  v_next smallint;
  v_active boolean;
  v_effect text := 'none';
  v_entries_free boolean := false;
  v_messages_free boolean := false;
  v_from smallint;
  v_to smallint;
  v_tally smallint;
  v_safety json;
begin`;

const lockTarget = `  -- the target's row is locked first: that is the lock order of the whole service
  select s.* into t from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id for no key update of s;
  if not found then return 'targetNotFound'; end if;`;

/**
 * The limit of an action's entries. What ends a silence may exceed it, up to twice as many, as the server's entry of the silence does (contract beyond.md
 * §1.4, §2): or a device whose quota is full would stay silent whatever it does.
 */
export const maxEntries = `p_max_entries * (case when a.tally = ${tally.silent} then 2 else 1 end)`;

const quotas = `  if not v_messages_free and p_max_messages > 0 and cardinality(p_messages) > p_max_messages then return 'tooManyMessages'; end if;
  if not v_entries_free and p_max_entries > 0 and a.revision >= ${maxEntries} then return 'tooManyEntries'; end if;`;

// Last polls are written after the polls; the first one of a new device is stored with its first report at the latest.
const firstPoll = `  if not exists (select from target_polls where tenant_id = p_tenant and target_id = t.target_id) then
    perform record_poll(p_tenant, t.target_id);
  end if;`;

function writes(): string {
  const ends = oneOf("v_next", endStatuses.map(code));
  return `  v_active := not (${ends});
  update actions
     set status = v_next, active = v_active, tally = v_tally, last_status_code = p_code, revision = revision + 1,
         last_modified_by = '${devicePrincipal}', last_modified_at = now()
   where tenant_id = p_tenant and id = a.id;
  if t is distinct from was then
    update target_state
       set update_status = t.update_status, assigned_set_id = t.assigned_set_id, installed_set_id = t.installed_set_id,
           installed_at = t.installed_at, installed_action_id = t.installed_action_id,
           request_attributes = t.request_attributes, revision = revision + 1
     where tenant_id = p_tenant and target_id = t.target_id;
  end if;

  v_from := action_bucket(a.status, a.force_type);
  v_to := action_bucket(v_next, a.force_type);
  if a.rollout_id is not null and v_from <> v_to then
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    values (p_tenant, a.rollout_id, a.group_id, v_from, v_to, 1);
  end if;

${indent(recordChangeSql({ status: "v_next", active: "v_active", entry: "v_entry", messages: "p_messages", code: "p_code", occurred: "p_occurred", safety: "v_safety" }), 2)}
${firstPoll}
  return 'ok';`;
}

/** Builds the whole function, for its file. */
export function reportFunctionSql(): string {
  const effects = [
    ...Object.entries(effectsWithMultiAssignment).map(([name, effect]) =>
      effectBranch(`v_effect = '${name}' and a.multi_assignment`, effect),
    ),
    ...Object.entries(targetEffects)
      .filter(([name]) => name !== "none")
      .map(([name, effect]) => effectBranch(`v_effect = '${name}'`, effect)),
  ];
  const noRule = { when: "", body: ["raise exception 'no rule for report % %/%', p_channel, p_execution, p_result;"] };
  return `${declarations}
${lockTarget}
${indent(findActionSql({ targetId: "t.target_id", lock: " for no key update", fail: (outcome) => `return ${outcome};` }), 2)}

${indent(gateSql(), 2)}

${indent(chain([...rules.map(ruleBranch), noRule]), 2)}
${quotas}

  was := t;
  v_tally := a.tally;
  -- A claim ends the proof of an earlier one. What a policy makes of the report is decided with it (functions/watches.sql).
  if v_effect = 'installed' and exists (select from action_watches w where w.tenant_id = p_tenant and w.target_id = t.target_id and w.action_id <> a.id) then
    perform end_other_proofs(p_tenant, p_tenant_name, t.target_id, a.id, p_traceparent);
  end if;
  if a.policy_id is not null then
    select r.effect, r.tally into v_effect, v_tally from watch_report(p_tenant, a, t, v_next, v_entry, v_effect, p_code) r;
    if v_tally <> a.tally then v_safety := tally_change(p_tenant, a, v_tally); end if;
  end if;

${indent(chain(effects), 2)}

${writes()}
end
$report$;
`;
}
