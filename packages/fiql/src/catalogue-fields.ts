import { autoAssignmentStatusCodes, autoAssignmentTypeCodes } from "./codes.ts";
import type { FieldMap, SortMap } from "./fields.ts";
import { entries, setRelation, tagRelation, typeRelation } from "./relations.ts";

/** Every named, audited row has these columns: id, name, description, created_at/by, last_modified_at/by. */
export const namedFields: FieldMap = {
  id: { kind: "number", column: "t.id" },
  name: { kind: "text", column: "t.name" },
  description: { kind: "text", column: "t.description" },
  createdat: { kind: "timestamp", column: "t.created_at" },
  createdby: { kind: "text", column: "t.created_by" },
  lastmodifiedat: { kind: "timestamp", column: "t.last_modified_at" },
  lastmodifiedby: { kind: "text", column: "t.last_modified_by" },
};

export const namedColumns = {
  id: "t.id",
  name: "t.name",
  description: "t.description",
  createdat: "t.created_at",
  createdby: "t.created_by",
  lastmodifiedat: "t.last_modified_at",
  lastmodifiedby: "t.last_modified_by",
};

export const byId = { initial: "t.id asc", last: "t.id asc", nullable: ["t.description"] };

/**
 * A set is complete if it has every module type, and every module has the artifacts that its type requires: the column only says the former. Only
 * management reads it.
 */
const complete = `(t.complete and not exists (
  select from management.set_modules csm
    join management.software_modules cm on cm.tenant_id = csm.tenant_id and cm.id = csm.module_id
    join management.software_module_types ct on ct.tenant_id = cm.tenant_id and ct.id = cm.type_id
   where csm.tenant_id = t.tenant_id and csm.set_id = t.id and ct.min_artifacts > 0
     and ct.min_artifacts > (select count(*) from management.artifacts ca where ca.tenant_id = cm.tenant_id and ca.module_id = cm.id)))`;

/** The fields of distribution sets: a relation `t` with the named columns, version, type_id, complete, valid. */
export const setFields: FieldMap = {
  ...namedFields,
  version: { kind: "text", column: "t.version" },
  type: typeRelation("management.set_types_v1", "t.type_id"),
  complete: { kind: "boolean", column: complete },
  valid: { kind: "boolean", column: "t.valid" },
  module: {
    kind: "toMany",
    from: "management.set_modules_v1 sm join management.software_modules_v1 m on m.tenant_id = sm.tenant_id and m.id = sm.module_id",
    on: "sm.tenant_id = t.tenant_id and sm.set_id = t.id",
    fields: { id: { kind: "number", column: "m.id" }, name: { kind: "text", column: "m.name" } },
  },
  tag: tagRelation({ view: "management.distribution_set_tag_links_v1", owner: "set_id" }, "management.distribution_set_tags_v1"),
  metadata: entries({ view: "management.set_metadata", owner: "set_id" }),
};

export const setSort: SortMap = {
  ...byId,
  fields: { ...namedColumns, version: "t.version", complete, valid: "t.valid", type: "t.type_id" },
};

/** The fields of software modules, read only by management: a relation `t` with the named columns, version, type_id. */
export const moduleFields: FieldMap = {
  ...namedFields,
  version: { kind: "text", column: "t.version" },
  type: typeRelation("management.software_module_types", "t.type_id"),
  metadata: entries({ view: "management.module_metadata", owner: "module_id" }),
};

export const moduleSort: SortMap = { ...byId, fields: { ...namedColumns, version: "t.version", type: "t.type_id" } };

/** The fields of types of sets and of targets: the named columns and key. */
export const typeFields: FieldMap = { ...namedFields, key: { kind: "text", column: "t.key" } };

export const typeSort: SortMap = { ...byId, fields: { ...namedColumns, key: "t.key" } };

/** The fields of types of modules have max_assignments in addition. */
export const moduleTypeFields: FieldMap = { ...typeFields, maxassignments: { kind: "number", column: "t.max_assignments" } };

export const moduleTypeSort: SortMap = { ...byId, fields: { ...typeSort.fields, maxassignments: "t.max_assignments" } };

/** The fields of tags of targets and of sets: the named columns and colour. */
export const tagFields: FieldMap = { ...namedFields, colour: { kind: "text", column: "t.colour" } };

export const tagSort: SortMap = { ...byId, fields: { ...namedColumns, colour: "t.colour" }, nullable: ["t.description", "t.colour"] };

const { description: _noField, ...undescribedFields } = namedFields;
const { description: _noColumn, ...undescribedColumns } = namedColumns;

/** The fields of target filters: the named columns without description, and auto_assign_set_id. */
export const targetFilterFields: FieldMap = { ...undescribedFields, autoassigndistributionset: setRelation("t.auto_assign_set_id") };

export const targetFilterSort: SortMap = { ...byId, fields: undescribedColumns };

/** The fields of auto-assignments: the same rows, with their state and how they assign. */
export const autoAssignmentFields: FieldMap = {
  ...undescribedFields,
  status: { kind: "enum", column: "t.auto_assign_status", codes: autoAssignmentStatusCodes },
  actiontype: { kind: "enum", column: "t.auto_assign_type", codes: autoAssignmentTypeCodes },
  approvaldecidedby: { kind: "text", column: "t.auto_assign_decided_by" },
  distributionset: setRelation("t.auto_assign_set_id"),
};

export const autoAssignmentSort: SortMap = {
  ...byId,
  fields: {
    ...undescribedColumns,
    status: "t.auto_assign_status",
    actiontype: "t.auto_assign_type",
    approvaldecidedby: "t.auto_assign_decided_by",
  },
  nullable: ["t.auto_assign_decided_by"],
};

/** The fields of one owner's metadata: key and value, and of modules also target_visible. */
export const metadataFields: FieldMap = { key: { kind: "text", column: "t.key" }, value: { kind: "text", column: "t.value" } };

export const metadataSort: SortMap = { fields: { key: "t.key", value: "t.value" }, initial: "t.key asc", last: "t.key asc" };

export const moduleMetadataFields: FieldMap = { ...metadataFields, targetvisible: { kind: "boolean", column: "t.target_visible" } };

export const moduleMetadataSort: SortMap = { ...metadataSort, fields: { ...metadataSort.fields, targetvisible: "t.target_visible" } };
