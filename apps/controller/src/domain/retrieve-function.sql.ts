import { actionStatus, tally } from "@harrier/contracts";
import { devicePrincipal, serverMessagePrefix } from "./codes.ts";
import { indent, maxEntries, recordChangesSql } from "./function-parts.sql.ts";
import { expiredWindowSql, maintenanceSql } from "./maintenance-window.sql.ts";
import { type Resource, resources, retrievedTexts, visibility } from "./visibility.ts";

/*
 * This file writes the SQL function `retrieve_actions`: everything that GETs of devices for their actions need, and the RETRIEVED entries that these leave.
 * Those that arrive together are one round trip, and each statement is for all of them. The first read takes no lock: devices read an action far more
 * often than they change it.
 */

const inList = (codes: readonly number[]): string => (codes.length === 0 ? "false" : `a.status in (${codes.join(", ")})`);
const retrieved = actionStatus.RETRIEVED;

function visibleSql(resource: Resource): string {
  const { open, closed } = visibility[resource];
  const [whileOpen, afterwards] = [open, closed].map((names) => inList(names.map((name) => actionStatus[name])));
  return `case when a.active then ${whileOpen} else ${afterwards} end`;
}

const visible = `case v_resource ${resources.map((r, i) => `when ${i} then ${visibleSql(r)}`).join("\n      ")} end`;

const recordedTexts = Object.entries(retrievedTexts)
  .map(([resource, text]) => `when ${resources.indexOf(resource as Resource)} then '${serverMessagePrefix}${text}'`)
  .join("\n      ");

/** Reading one of these resources cancels an action whose last window has passed (contract device.md §3.5), as the poll does. */
const endsExpiredWindow: readonly Resource[] = ["deployment", "confirmation"];

// Whatever follows a retrieval of a deployment and changes its status raises the revision: with another status the latest entry is no retrieval. So the
// first one reads no history.
const mayBeRetrieved = `x.tally <> ${tally.silent} and (p_resources[o.place] <> ${resources.indexOf("deployment")} or x.status = ${retrieved})`;

const read = `select o.place, g.id as target_id, x as action,
       case when ${mayBeRetrieved} then exists (
         select from action_history h where h.tenant_id = x.tenant_id and h.action_id = x.id
            and h.revision = x.revision and h.status = ${retrieved} and h.reported_at >= x.created_at) else false end as is_retrieved,
       (select d.revision from management.distribution_sets_v1 d where d.tenant_id = x.tenant_id and d.id = x.set_id) as set_revision
  from unnest(v_open) as o (place)
  left join targets g on g.tenant_id = p_tenants[o.place] and g.controller_id = p_controller_ids[o.place]
  left join actions x on x.tenant_id = p_tenants[o.place] and x.id = p_actions[o.place]`;

const clear = `outcome := null; set_id := null; set_revision := null; status := null; force_type := null; force_time_ms := null; maintenance := null;
messages := null;`;

const lock = `select o.place from unnest(v_open) as o (place)
  join targets g on g.tenant_id = p_tenants[o.place] and g.controller_id = p_controller_ids[o.place]
  join target_state s on s.tenant_id = g.tenant_id and s.target_id = g.id
   for no key update of s skip locked`;

const writes = recordChangesSql({
  set: `status = w.next, tally = ${tally.plain}, revision = x.revision + 1, last_modified_by = '${devicePrincipal}', last_modified_at = now()`,
  changes: `(select place, was, next, text, safety, ${retrieved}::smallint as entry
             from unnest(w_places, w_was, w_next, w_texts, w_safeties) as u (place, was, next, text, safety)) w`,
  messages: "array[w.text]",
  code: "null::int",
  occurred: "now()",
  movesBuckets: false,
});

const messagesSql = `select array_agg(m.message order by m.revision desc, m.place desc) into messages from (
  select h.revision, u.place, u.message
    from action_history h cross join unnest(h.messages) with ordinality as u (message, place)
   where h.tenant_id = a.tenant_id and h.action_id = a.id and h.reported_at >= a.created_at
     and not starts_with(u.message, '${serverMessagePrefix}')
   order by h.revision desc, u.place desc limit p_history[r.place]) m;`;

/** Builds the whole function, for its file. */
export function retrieveFunctionSql(): string {
  const expiring = endsExpiredWindow.map((resource) => resources.indexOf(resource)).join(", ");
  return `create or replace function retrieve_actions(
  p_tenants int[], p_controller_ids text[], p_actions bigint[],
  p_resources smallint[],                                      -- places in the list of src/domain/visibility.ts
  p_history int[], p_max_entries int[],
  p_tenant_names text[], p_traceparents text[],
  out place int, out outcome text, out set_id bigint, out set_revision int, out status smallint,
  out force_type smallint, out force_time_ms bigint, out maintenance json, out messages text[]
) returns setof record language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $retrieve$
#variable_conflict use_column -- what it returns is named as columns are
declare
  r record;
  a actions;
  v_open int[] := array(select generate_series(1, cardinality(p_tenants))); -- what is not answered yet
  v_locked int[] := '{}';
  v_again int[];
  v_resource smallint;
  v_text text;
  v_safety json;
  -- the entries of a turn
  w_places int[];
  w_was smallint[];
  w_next smallint[];
  w_texts text[];
  w_safeties json[];
  w_actions bigint[];
begin
  while cardinality(v_open) > 0 loop
    v_again := '{}';
    w_places := '{}'; w_was := '{}'; w_next := '{}'; w_texts := '{}'; w_safeties := '{}'; w_actions := '{}';
    for r in
${indent(read, 6)}
    loop
      a := r.action;
      v_resource := p_resources[r.place];
      place := r.place;
${indent(clear, 6)}
      if r.target_id is null then outcome := 'targetNotFound'; return next; continue; end if;
      if a.id is null then outcome := 'actionNotFound'; return next; continue; end if;
      if a.target_id <> r.target_id then outcome := 'foreignAction'; return next; continue; end if;
      if v_resource in (${expiring}) and ${expiredWindowSql("a")} and a.active then
        perform cancel_action_of_expired_window(a.tenant_id, a.target_id, a.id, p_traceparents[r.place]);
        outcome := 'stateNotFound'; return next; continue;
      end if;
      if not (${visible}) then outcome := 'stateNotFound'; return next; continue; end if;
      -- once per row of retrievals, only while open, and never at the cost of the device's own entries (contract device.md §4.2, §8)
      v_text := case v_resource ${recordedTexts} end;
      if not a.active or r.is_retrieved or (p_max_entries[r.place] > 0 and a.revision >= ${maxEntries("p_max_entries[r.place]")}) then v_text := null; end if;
      status := a.status;
      if v_text is not null then
        -- It is read again when it is locked: another transaction may have been faster, and so may another retrieval of the same action here.
        if not r.place = any (v_locked) or a.id = any (w_actions) then v_again := v_again || r.place; continue; end if;
        if v_resource = ${resources.indexOf("deployment")} then status := ${retrieved}; end if;
        w_places := w_places || place;
        w_actions := w_actions || a.id;
        w_was := w_was || a.status;
        w_next := w_next || status;
        w_texts := w_texts || v_text;
        v_safety := case when a.tally <> ${tally.plain} then tally_change(a.tenant_id, a, ${tally.plain}::smallint) end;
        w_safeties := w_safeties || v_safety;
      end if;
      outcome := 'ok';
      set_id := a.set_id;
      set_revision := r.set_revision;
      force_type := a.force_type;
      force_time_ms := (extract(epoch from a.force_time) * 1000)::bigint;
      maintenance := ${maintenanceSql("a")};
      if p_history[r.place] > 0 then
${indent(messagesSql, 8)}
      end if;
      return next;
    end loop;

    if cardinality(w_places) > 0 then
${indent(writes, 6)}
    end if;

    v_open := v_again;
    if cardinality(v_open) > 0 and not v_open <@ v_locked then
      v_locked := array(
${indent(lock, 8)});
${indent(clear, 6)}
      foreach place in array v_open loop
        if not place = any (v_locked) then outcome := 'busy'; return next; end if;
      end loop;
      v_open := v_locked;
    end if;
  end loop;
end
$retrieve$;
`;
}
