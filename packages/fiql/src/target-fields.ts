import { updateStatusCodes } from "./codes.ts";
import type { FieldMap, SortMap } from "./fields.ts";
import { setRelation, typeRelation } from "./relations.ts";

const targetType = typeRelation("management.target_types_v1", "t.target_type_id");

/**
 * Targets: `from controller.targets_v1 t`. The one map for target queries: lists, counts, filters and rollouts
 * (contract management.md §6.4). `id` means the controllerId.
 */
export const targetFields: FieldMap = {
  id: { kind: "text", column: "t.controller_id" },
  controllerid: { kind: "text", column: "t.controller_id" },
  name: { kind: "text", column: "t.name" },
  description: { kind: "text", column: "t.description" },
  createdat: { kind: "timestamp", column: "t.created_at" },
  createdby: { kind: "text", column: "t.created_by" },
  lastmodifiedat: { kind: "timestamp", column: "t.last_modified_at" },
  lastmodifiedby: { kind: "text", column: "t.last_modified_by" },
  updatestatus: { kind: "enum", column: "t.update_status", codes: updateStatusCodes },
  ipaddress: { kind: "text", column: "t.address" },
  lastcontrollerrequestat: { kind: "timestamp", column: "t.last_poll_at" },
  attribute: {
    kind: "map",
    from: "controller.target_attributes_v1 a",
    on: "a.tenant_id = t.tenant_id and a.target_id = t.id",
    key: "a.key",
    value: "a.value",
  },
  assignedds: setRelation("t.assigned_set_id"),
  installedds: setRelation("t.installed_set_id"),
  targettype: targetType,
  type: targetType,
};

export const targetSort: SortMap = {
  fields: {
    id: "t.controller_id",
    controllerid: "t.controller_id",
    name: "t.name",
    description: "t.description",
    createdat: "t.created_at",
    createdby: "t.created_by",
    lastmodifiedat: "t.last_modified_at",
    lastmodifiedby: "t.last_modified_by",
    updatestatus: "t.update_status",
    ipaddress: "t.address",
    lastcontrollerrequestat: "t.last_poll_at",
  },
  initial: "t.controller_id asc",
  last: "t.id asc",
};
