import { actionStatusCodes, proofCodes, updateStatusCodes, watchStageCodes } from "./codes.ts";
import type { Field, FieldMap, SortMap } from "./fields.ts";
import { setRelation } from "./relations.ts";

const detailStatus: Field = { kind: "enum", column: "t.status", codes: actionStatusCodes };

const shared: FieldMap = {
  id: { kind: "number", column: "t.id" },
  active: { kind: "boolean", column: "t.active" },
  detailstatus: detailStatus,
  laststatuscode: { kind: "number", column: "t.last_status_code" },
  proof: { kind: "enum", column: "(case when t.tally = 1 then 0 else t.outcome / 10 end)", codes: proofCodes },
  stage: {
    kind: "enum",
    column: "(select w.stage from controller.action_watches_v1 w where w.tenant_id = t.tenant_id and w.action_id = t.id)",
    codes: watchStageCodes,
  },
  silent: { kind: "boolean", column: "(t.tally = 3)" },
  attempt: { kind: "number", column: "t.attempt" },
  weight: { kind: "number", column: "t.weight" },
  // these are references of other systems, and no action of ours has one
  externalref: { kind: "text", column: "null::text" },
  createdat: { kind: "timestamp", column: "t.created_at" },
  createdby: { kind: "text", column: "t.created_by" },
  lastmodifiedat: { kind: "timestamp", column: "t.last_modified_at" },
  lastmodifiedby: { kind: "text", column: "t.last_modified_by" },
  target: {
    kind: "toOne",
    from: "controller.targets_v1 tg",
    on: "tg.tenant_id = t.tenant_id and tg.id = t.target_id",
    fields: {
      id: { kind: "text", column: "tg.controller_id" },
      controllerid: { kind: "text", column: "tg.controller_id" },
      name: { kind: "text", column: "tg.name" },
      updatestatus: { kind: "enum", column: "tg.update_status", codes: updateStatusCodes },
      address: { kind: "text", column: "tg.address" },
      ipaddress: { kind: "text", column: "tg.address" },
      lastcontrollerrequestat: { kind: "timestamp", column: "tg.last_poll_at", hour: "tg.poll_hour" },
      "targettype.key": {
        kind: "text",
        column: "(select ty.key from management.target_types_v1 ty where ty.tenant_id = tg.tenant_id and ty.id = tg.target_type_id)",
      },
    },
  },
  distributionset: setRelation("t.set_id"),
  rollout: {
    kind: "toOne",
    from: "rollout_engine.rollouts_v1 ro",
    on: "ro.tenant_id = t.tenant_id and ro.id = t.rollout_id",
    fields: { id: { kind: "number", column: "ro.id" }, name: { kind: "text", column: "ro.name" } },
  },
  rolloutgroup: {
    kind: "toOne",
    from: "rollout_engine.rollout_groups_v1 rg",
    on: "rg.tenant_id = t.tenant_id and rg.rollout_id = t.rollout_id and rg.id = t.group_id",
    fields: { id: { kind: "number", column: "rg.id" }, name: { kind: "text", column: "rg.name" } },
  },
};

/**
 * The fields of actions: `from controller.actions_v1 t`. `status` is pending/finished in the dialect of the specification and the raw state in the
 * other (contract clients.md, "Two dialects").
 */
export const actionFields: Readonly<Record<"spec" | "rest", FieldMap>> = {
  spec: { ...shared, status: { kind: "enum", column: "t.active", codes: { pending: true, finished: false } } },
  rest: { ...shared, status: detailStatus },
};

const actionColumns = {
  id: "t.id",
  active: "t.active",
  detailstatus: "t.status",
  laststatuscode: "t.last_status_code",
  weight: "t.weight",
  createdat: "t.created_at",
  createdby: "t.created_by",
  lastmodifiedat: "t.last_modified_at",
  lastmodifiedby: "t.last_modified_by",
};

const nullable = ["t.last_status_code"];

/** The newest action comes first by default (contract rollouts.md §6). */
export const actionSort: Readonly<Record<"spec" | "rest", SortMap>> = {
  spec: { fields: { ...actionColumns, status: "t.active" }, initial: "t.id desc", last: "t.id desc", nullable },
  rest: { fields: { ...actionColumns, status: "t.status" }, initial: "t.id desc", last: "t.id desc", nullable },
};

/** The sorting of an action's entries: `from controller.action_statuses_v1 t`; an entry's id is its revision. */
export const actionStatusSort: SortMap = {
  fields: { id: "t.revision", reportedat: "t.reported_at", timestamp: "t.occurred_at", createdat: "t.reported_at" },
  initial: "t.revision desc",
  last: "t.revision desc",
};
