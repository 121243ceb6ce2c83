import { updateStatusCodes } from "./codes.ts";
import type { FieldMap, SortMap } from "./fields.ts";
import { entries, longValue, setRelation, tagRelation, typeRelation } from "./relations.ts";

const targetType = typeRelation("management.target_types_v1", "t.target_type_id");

/**
 * The fields of targets: `from controller.targets_v1 t`. Lists, counts, filters and rollouts use this one map for target queries (contract
 * management.md §6.4). `id` means the controllerId.
 */
export const targetFields: FieldMap = {
  id: { kind: "text", column: "t.controller_id" },
  controllerid: { kind: "text", column: "t.controller_id" },
  name: { kind: "text", column: "t.name" },
  description: { kind: "text", column: "t.description" },
  group: { kind: "text", column: "t.target_group" },
  createdat: { kind: "timestamp", column: "t.created_at" },
  createdby: { kind: "text", column: "t.created_by" },
  lastmodifiedat: { kind: "timestamp", column: "t.last_modified_at" },
  lastmodifiedby: { kind: "text", column: "t.last_modified_by" },
  updatestatus: { kind: "enum", column: "t.update_status", codes: updateStatusCodes },
  ipaddress: { kind: "text", column: "t.address" },
  lastcontrollerrequestat: { kind: "timestamp", column: "t.last_poll_at", hour: "t.poll_hour" },
  attribute: entries({ view: "controller.target_attributes_v1", owner: "target_id" }),
  metadata: entries({ view: "controller.target_metadata_v1", owner: "target_id" }, longValue),
  tag: tagRelation({ view: "controller.target_tag_links_v1", owner: "target_id" }, "management.target_tags_v1"),
  assignedds: setRelation("t.assigned_set_id"),
  installedds: setRelation("t.installed_set_id"),
  targettype: targetType,
  type: targetType,
  autoconfirm: {
    kind: "boolean",
    column: "(exists (select from controller.auto_confirmations_v1 ac where ac.tenant_id = t.tenant_id and ac.target_id = t.id))",
  },
};

export const targetSort: SortMap = {
  fields: {
    id: "t.controller_id",
    controllerid: "t.controller_id",
    name: "t.name",
    description: "t.description",
    group: "t.target_group",
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
  nullable: ["t.description", "t.target_group", "t.address", "t.last_poll_at"],
};
