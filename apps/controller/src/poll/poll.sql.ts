import { statement } from "@harrier/db";

export interface PollRow {
  targetId: number;
  requestAttributes: boolean;
  /** The action that `installedBase` links to. */
  installedActionId: number | null;
  /** The open action that goes first; null when there is none. The four members below belong to it. */
  actionId: number | null;
  status: number | null;
  revision: number | null;
  forceType: number | null;
  forceTimeMs: number | null;
}

/**
 * All that a poll answers (contract device.md §3), in one round trip. `touch_target` is called only where the poll changes something:
 * the status UNKNOWN, or an address that the target has not had before.
 */
export const readPoll = statement<[tenantId: number, controllerId: string, address: string | null], PollRow>(
  "controller.poll",
  `select t.id as "targetId", s.request_attributes as "requestAttributes", s.installed_action_id as "installedActionId",
          a.id as "actionId", a.status, a.revision, a.force_type as "forceType",
          (extract(epoch from a.force_time) * 1000)::bigint as "forceTimeMs",
          case when s.update_status = 0 or ($3::text is not null and t.address is distinct from $3)
               then touch_target(t.tenant_id, t.id, $3) end as touched
     from targets t
     join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
     left join lateral (
       select o.id, o.status, o.revision, o.force_type, o.force_time
         from actions o
        where o.tenant_id = t.tenant_id and o.target_id = t.id and o.active
        order by o.weight desc, o.id limit 1) a on true
    where t.tenant_id = $1 and t.controller_id = $2`,
);
