import type { MaintenanceWindow } from "@harrier/contracts";
import { type Statement, statement } from "@harrier/db";
import { expiredWindowSql, maintenanceSql } from "../domain/maintenance-window.sql.ts";

export interface PollRow {
  targetId: number;
  requestAttributes: boolean;
  /** The action to which `installedBase` links. */
  installedActionId: number | null;
  /** The open action that is offered first; null when there is none. The five members below belong to it. */
  actionId: number | null;
  status: number | null;
  revision: number | null;
  forceType: number | null;
  forceTimeMs: number | null;
  maintenance: MaintenanceWindow | null;
  /** The place of the polling-time override that applies; null if none does. It exists only where the tenant has overrides (overrides.sql.ts). */
  override?: number | null;
  /** The address for messages that the address of this poll replaces; null if there was none. It exists only where a poll is read alone. */
  replacedAddress?: string | null;
}

const members = (
  status: string,
): string => `t.id as "targetId", s.request_attributes as "requestAttributes", s.installed_action_id as "installedActionId",
          a.id as "actionId", ${status} as status, a.revision, a.force_type as "forceType",
          (extract(epoch from a.force_time) * 1000)::bigint as "forceTimeMs", ${maintenanceSql("a")} as maintenance`;

/** Reads the members of a PollRow, from `targets t`, `target_state s` and the open action `a`. */
export const pollMembers = members("a.status");

export const pollTables = `targets t
     join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
     left join lateral (
       select o.id, o.status, o.revision, o.force_type, o.force_time,
              o.maintenance_schedule, o.maintenance_duration, o.maintenance_timezone, o.maintenance_ends_at
         from actions o
        where o.tenant_id = t.tenant_id and o.target_id = t.id and o.active
        order by o.weight desc, o.id limit 1) a on true`;

const expired = expiredWindowSql("a");

export interface GatheredPollRow extends PollRow {
  /** The place of the target in the request, from 1. */
  place: number;
  /**
   * True if there is something to change, which is left to the statement of one poll: several locks taken here, in the order of the polls, could
   * deadlock.
   */
  stale: boolean;
}

type OnePoll = [tenantId: number, controllerId: string, address: string | null, ...more: unknown[]];
type ManyPolls = [
  tenantIds: readonly number[],
  controllerIds: readonly string[],
  addresses: readonly (string | null)[],
  ...more: unknown[],
];

export interface PollStatements {
  one: Statement<OnePoll, PollRow>;
  many: Statement<ManyPolls, GatheredPollRow>;
}

/**
 * Reads all that a poll answers (contract device.md §3), in one round trip: for one target, and for several that polled at the same moment. Functions
 * are called only where the poll changes something: the status UNKNOWN, an address that the target has not had before (`touch_target`), an action
 * whose last maintenance window has passed (`cancel_action_of_expired_window`). `offset 0` keeps it a look-up per target, whatever the statistics
 * say. `more` is a further member, whose parameters are numbered from 4. With one the statements have no name, so they are not prepared: tenants may
 * bring any number of them, and prepared ones are never released.
 */
export function pollStatements(more = ""): PollStatements {
  const further = more === "" ? "" : `, ${more}`;
  return {
    one: statement(
      more === "" ? "controller.poll" : "",
      `select ${members(`case when ${expired} then cancel_action_of_expired_window(t.tenant_id, t.id, a.id, null) else a.status end`)},
          case when s.update_status = 0 or ($3::text is not null and t.address is distinct from $3)
               then touch_target(t.tenant_id, t.id, $3) end as touched,
          case when $3::text is not null and t.address is distinct from $3 and t.address like 'amqp://%' then t.address end as "replacedAddress"${further}
     from ${pollTables}
    where t.tenant_id = $1 and t.controller_id = $2`,
    ),
    many: statement(
      more === "" ? "controller.polls" : "",
      `select p.*
     from unnest((select $1::int[]), (select $2::text[]), (select $3::text[])) with ordinality i (tenant_id, controller_id, address, place)
    cross join lateral (
      select i.place, coalesce(s.update_status = 0 or (i.address is not null and t.address is distinct from i.address) or ${expired}, false) as stale,
             ${pollMembers}${further}
        from ${pollTables}
       where t.tenant_id = i.tenant_id and t.controller_id = i.controller_id
      offset 0) p`,
    ),
  };
}
