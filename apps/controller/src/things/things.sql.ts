import type { MaintenanceWindow } from "@harrier/contracts";
import { statement } from "@harrier/db";
import { maintenanceSql } from "../domain/maintenance-window.sql.ts";

/** Answers the tenants whose things may send and get messages. */
export const readMessagingTenants = statement<[], { tenantId: number; tenant: string; vhost: string }>(
  "controller.read_messaging_tenants",
  `select tenant_id as "tenantId", tenant, vhost from management.messaging_v1 where dmf order by tenant_id`,
);

/** Answers whose actions these are. */
export const findThings = statement<[tenantId: number, actionIds: number[]], { actionId: number; controllerId: string }>(
  "controller.find_things",
  `select id as "actionId", controller_id as "controllerId" from actions where tenant_id = $1 and id = any((select $2)::bigint[])`,
);

/** Brings a thing up to date (functions/things.sql); `unknownType` says that there is no target type of this name, so that it keeps its own. */
export const callUpdateThing = statement<
  [tenantId: number, controllerId: string, address: string, name: string | null, type: string | null],
  { outcome: "ok" | "targetNotFound"; unknownType: boolean }
>(
  "controller.update_thing",
  `select update_thing($1, $2, $3, $4, $5) as outcome,
          coalesce($5, '') <> '' and not exists (select from management.target_types_v1 y
                                                  where y.tenant_id = $1 and lower(y.name) = lower($5)) as "unknownType"`,
);

export interface OpenAction {
  id: number;
  status: number;
  setId: number;
  /** It is null if the set was deleted. */
  setRevision: number | null;
  forceType: number;
  weight: number;
  maintenance: MaintenanceWindow | null;
}

export interface ThingRow {
  tenantId: number;
  controllerId: string;
  address: string | null;
  cipher: Buffer;
  requestAttributes: boolean;
  /** The open actions, the first to be done first; a hundred at most. */
  actions: OpenAction[];
}

/** Reads what things shall do, for all of them in one round trip; other devices are left out. */
export const readThings = statement<[tenantIds: number[], controllerIds: string[]], ThingRow>(
  "controller.read_things",
  `select t.tenant_id as "tenantId", t.controller_id as "controllerId", t.address, t.token_cipher as cipher,
          s.request_attributes as "requestAttributes", coalesce(a.actions, '[]') as actions
     from unnest((select $1::int[]), (select $2::text[])) i (tenant_id, controller_id)
     join targets t on t.tenant_id = i.tenant_id and t.controller_id = i.controller_id and t.address like 'amqp://%'
     join target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
     left join lateral (
       select json_agg(json_build_object('id', o.id, 'status', o.status, 'setId', o.set_id, 'setRevision', d.revision, 'forceType', o.force_type,
                                         'weight', o.weight, 'maintenance', ${maintenanceSql("o")}) order by o.weight desc, o.id) as actions
         from (select * from actions x where x.tenant_id = t.tenant_id and x.target_id = t.id and x.active
                order by x.weight desc, x.id limit max_open_actions()) o
         left join management.distribution_sets_v1 d on d.tenant_id = o.tenant_id and d.id = o.set_id) a on true`,
);
