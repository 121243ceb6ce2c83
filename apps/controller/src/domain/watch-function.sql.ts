import { type ActionStatusName, actionStatus, watchStageCode } from "@harrier/contracts";
import { chain } from "./function-parts.sql.ts";
import { effectBranch } from "./target-effects.sql.ts";
import { effectsWithMultiAssignment, targetEffects } from "./transitions.ts";
import { stageOfEntry, type WatchRule, watchEvents, watchFacts, watchRules } from "./watch.ts";

/*
 * This file writes the SQL functions that decide about watched actions from the tables of watch.ts and transitions.ts. A test compares all cells on
 * real PostgreSQL.
 */

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function condition(rule: WatchRule): string {
  return [
    `p_event = ${watchEvents.indexOf(rule.event)}`,
    `p_stage in (${rule.stages.map(watchStageCode).join(", ")})`,
    ...(rule.when ?? []).map((fact) => `p_${snake(fact)}`),
    ...(rule.unless ?? []).map((fact) => `not p_${snake(fact)}`),
  ].join(" and ");
}

/** Builds the decision about a watch. It is no plain SQL: that would be inlined nowhere, because most facts are computed, and so called at ten times the cost. */
export function decideWatchSql(): string {
  return `create or replace function decide_watch(
  p_event smallint, p_stage smallint, -- places in the lists of src/domain/watch.ts and of packages/contracts/src/codes.ts
  ${watchFacts.map((fact) => `p_${snake(fact)} boolean`).join(", ")}
) returns text language plpgsql immutable parallel safe as $decide$
begin
  return case
${watchRules.map((rule) => `    when ${condition(rule)} then '${rule.verdict}' -- ${rule.event}`).join("\n")}
    else 'ignore'
  end;
end
$decide$;

create or replace function stage_after(p_stage smallint, p_entry smallint) returns smallint language sql immutable parallel safe as $stage$
  select greatest(p_stage, case p_entry
${Object.entries(stageOfEntry)
  .map(([entry, stage]) => `    when ${actionStatus[entry as ActionStatusName]} then ${watchStageCode(stage)} -- ${entry}`)
  .join("\n")}
    else 0
  end)::smallint
$stage$;
`;
}

/** Builds the effects of transitions.ts as a function, for ends of actions that no report brings. */
export function targetAfterSql(): string {
  const branches = [
    ...Object.entries(effectsWithMultiAssignment).map(([name, effect]) =>
      effectBranch(`p_effect = '${name}' and a.multi_assignment`, effect),
    ),
    ...Object.entries(targetEffects)
      .filter(([name]) => name !== "none")
      .map(([name, effect]) => effectBranch(`p_effect = '${name}'`, effect)),
  ];
  return `create or replace function target_after(p_tenant int, a actions, t target_state, p_effect text) returns target_state
language plpgsql as $after$
begin
${chain(branches)
  .split("\n")
  .map((line) => `  ${line}`)
  .join("\n")}
  return t;
end
$after$;
`;
}
