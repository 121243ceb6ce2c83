import { actionStatus } from "@harrier/contracts";
import { serverMessagePrefix } from "./codes.ts";
import { type ConfirmationRule, confirmationRules, textOf } from "./confirmation.ts";
import { indent } from "./function-parts.sql.ts";

/*
 * This file writes the SQL function `confirm_action` from the table of confirmation.ts: one answer is one call and one round trip. No answer moves an
 * action to another bucket of its rollout group (tested), so the progress of groups does not change.
 */

function branch(rule: ConfirmationRule, first: boolean): string[] {
  const { statuses, answer, flow, entry, next, text } = rule;
  const conditions = [
    `a.status in (${statuses.map((name) => actionStatus[name]).join(", ")})`,
    answer === "confirmed" ? "p_confirmed" : "not p_confirmed",
    ...(flow ? ["p_flow"] : []),
  ];
  return [
    `${first ? "if" : "elsif"} ${conditions.join(" and ")} then`,
    `  -- ${answer}: ${statuses.join(", ")} -> ${next}`,
    `  v_entry := ${actionStatus[entry]};`,
    `  v_next := ${actionStatus[next]};`,
    // Callers cannot know the action's status: they write the text of a waiting one, as the last message before the code.
    ...(text === textOf(answer)
      ? []
      : [`  p_messages[cardinality(p_messages) - (p_code is not null)::int] := '${serverMessagePrefix}${text}';`]),
  ];
}

/** Builds the whole function, for its file. */
export function confirmFunctionSql(): string {
  const rules = [...confirmationRules.flatMap((rule, i) => branch(rule, i === 0)), "else", "  return 'notWaiting';", "end if;"];
  return `create or replace function confirm_action(
  p_tenant int, p_tenant_name text, p_controller_id text, p_action bigint,
  p_confirmed boolean, p_code int,
  p_messages text[],                     -- all of the entry: details, the server's text, the code's
  p_flow boolean,                        -- is the tenant's confirmation flow switched on?
  p_max_entries int, p_max_messages int, -- 0 or less: no limit
  p_by text, p_scope bigint[], p_traceparent text
) returns text language plpgsql as $confirm$
declare
  a actions;
  v_target int;
  v_entry smallint;
  v_next smallint;
begin
  select s.target_id into v_target from targets g join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   where g.tenant_id = p_tenant and g.controller_id = p_controller_id and (p_scope is null or g.target_type_id = any (p_scope))
     for no key update of s;
  if not found then return 'targetNotFound'; end if;
  select * into a from actions where tenant_id = p_tenant and id = p_action and target_id = v_target for no key update;
  if not found then
    perform from actions where tenant_id = p_tenant and id = p_action;
    return case when found then 'foreignAction' else 'actionNotFound' end;
  end if;
  if not a.active then return 'closed'; end if;
${indent(rules, 2)}
  if p_max_messages > 0 and cardinality(p_messages) > p_max_messages then return 'tooManyMessages'; end if;
  if p_max_entries > 0 and a.revision >= p_max_entries then return 'tooManyEntries'; end if;

  update actions
     set status = v_next, last_status_code = p_code, revision = revision + 1, last_modified_by = p_by, last_modified_at = now()
   where tenant_id = p_tenant and id = a.id;
  insert into action_history (tenant_id, action_id, revision, status, messages, code, occurred_at)
  values (p_tenant, a.id, a.revision + 1, v_entry, p_messages, p_code, now());

  insert into outbox (tenant_id, topic, type, common, items, traceparent)
  select p_tenant, 'action-events', 'io.update.action.status_changed.v1',
         action_event_common(p_tenant_name, a.set_id, d.name, d.version, a.rollout_id, a.group_id, a.initiated_by),
         json_build_array(json_build_array(
           a.id, a.controller_id, a.revision + 1, a.status, v_next, a.active, a.force_type, a.weight, p_code,
           nullif(p_messages, '{}'), (extract(epoch from now()) * 1000)::bigint, v_entry)),
         p_traceparent
    from (select 1) one
    left join management.distribution_sets_v1 d on d.tenant_id = p_tenant and d.id = a.set_id;
  return 'ok';
end
$confirm$;
`;
}
