import { actionStatus, tally } from "@harrier/contracts";
import { devicePrincipal, serverMessagePrefix } from "./codes.ts";
import { findActionSql, indent, recordChangeSql } from "./function-parts.sql.ts";
import { expiredWindowSql, maintenanceSql } from "./maintenance-window.sql.ts";
import { maxEntries } from "./report-function.sql.ts";
import { type Resource, resources, retrievedTexts, visibility } from "./visibility.ts";

/*
 * This file writes the SQL function `retrieve_action`: everything that a device's GET of one of its actions needs, and the RETRIEVED entry that it leaves,
 * in one round trip. The first read takes no lock: devices read an action far more often than they change it.
 */

const inList = (codes: readonly number[]): string => (codes.length === 0 ? "false" : `a.status in (${codes.join(", ")})`);
const retrieved = actionStatus.RETRIEVED;

function visibleSql(resource: Resource): string {
  const { open, closed } = visibility[resource];
  const [whileOpen, afterwards] = [open, closed].map((names) => inList(names.map((name) => actionStatus[name])));
  return `case when a.active then ${whileOpen} else ${afterwards} end`;
}

const visible = `case p_resource ${resources.map((r, i) => `when ${i} then ${visibleSql(r)}`).join("\n      ")} end`;

const recordedTexts = Object.entries(retrievedTexts)
  .map(([resource, text]) => `when ${resources.indexOf(resource as Resource)} then '${serverMessagePrefix}${text}'`)
  .join("\n      ");

/** Reading one of these resources cancels an action whose last window has passed (contract device.md §3.5), as the poll does. */
const endsExpiredWindow: readonly Resource[] = ["deployment", "confirmation"];

/** Builds the whole function, for its file. */
export function retrieveFunctionSql(): string {
  const change = recordChangeSql({
    status: "v_next",
    active: "a.active",
    entry: String(retrieved),
    messages: "array[v_text]",
    code: "null",
    occurred: "now()",
    safety: "v_safety",
  });
  return `create or replace function retrieve_action(
  p_tenant int, p_controller_id text, p_action bigint,
  p_resource smallint,                                         -- place in the list of src/domain/visibility.ts
  p_history int, p_max_entries int,
  p_tenant_name text, p_traceparent text,
  p_wait boolean,                                              -- false: 'busy', without effect, where somebody else holds the lock that it needs
  out outcome text, out set_id bigint, out set_revision int, out status smallint,
  out force_type smallint, out force_time_ms bigint, out maintenance json, out messages text[]
) language plpgsql as $retrieve$
declare
  a actions;
  v_target int;
  v_next smallint;
  v_text text;
  v_locked boolean := false;
  v_safety json;
begin
  select g.id into v_target from targets g where g.tenant_id = p_tenant and g.controller_id = p_controller_id;
  if not found then outcome := 'targetNotFound'; return; end if;
  loop
${indent(findActionSql({ targetId: "v_target", fail: (reason) => `outcome := ${reason}; return;` }), 4)}
    if p_resource in (${endsExpiredWindow.map((resource) => resources.indexOf(resource)).join(", ")}) and ${expiredWindowSql("a")} and a.active then
      perform cancel_action_of_expired_window(p_tenant, v_target, a.id, p_traceparent);
      outcome := 'stateNotFound';
      return;
    end if;
    if not (${visible}) then outcome := 'stateNotFound'; return; end if;
    -- once per row of retrievals, only while open, and never at the cost of the device's own entries (contract device.md §4.2, §8)
    v_text := case p_resource ${recordedTexts} end;
    if v_text is null or not a.active or (p_max_entries > 0 and a.revision >= ${maxEntries}) then
      v_text := null;
      exit;
    end if;
    -- Whatever follows a retrieval of a deployment and changes its status raises the revision: with another status the latest entry is no retrieval. So
    -- the first one reads no history.
    if a.tally <> ${tally.silent} and (p_resource <> ${resources.indexOf("deployment")} or a.status = ${retrieved}) then
      if exists (select from action_history h where h.tenant_id = p_tenant and h.action_id = a.id
                    and h.revision = a.revision and h.status = ${retrieved} and h.reported_at >= a.created_at) then
        v_text := null;
        exit;
      end if;
    end if;
    exit when v_locked;
    if p_wait then
      perform from target_state s where s.tenant_id = p_tenant and s.target_id = v_target for no key update;
    else
      perform from target_state s where s.tenant_id = p_tenant and s.target_id = v_target for no key update skip locked;
      if not found then outcome := 'busy'; return; end if;
    end if;
    v_locked := true; -- and read again: another transaction may have been faster
  end loop;

  v_next := a.status;
  if v_text is not null then
    if p_resource = ${resources.indexOf("deployment")} then v_next := ${retrieved}; end if;
    if a.tally <> ${tally.plain} then v_safety := tally_change(p_tenant, a, ${tally.plain}::smallint); end if;
    update actions
       set status = v_next, tally = ${tally.plain}, revision = revision + 1, last_modified_by = '${devicePrincipal}', last_modified_at = now()
     where tenant_id = p_tenant and id = a.id;
${indent(change, 4)}
  end if;

  outcome := 'ok';
  set_id := a.set_id;
  status := v_next;
  force_type := a.force_type;
  force_time_ms := (extract(epoch from a.force_time) * 1000)::bigint;
  maintenance := ${maintenanceSql("a")};
  select d.revision into set_revision from management.distribution_sets_v1 d where d.tenant_id = p_tenant and d.id = a.set_id;
  if p_history > 0 then
    select array_agg(m.message order by m.revision desc, m.place desc) into messages from (
      select h.revision, u.place, u.message
        from action_history h cross join unnest(h.messages) with ordinality as u (message, place)
       where h.tenant_id = p_tenant and h.action_id = a.id and h.reported_at >= a.created_at
         and not starts_with(u.message, '${serverMessagePrefix}')
       order by h.revision desc, u.place desc limit p_history) m;
  end if;
end
$retrieve$;
`;
}
