import { z } from "zod";
import { forceTypeNames } from "../codes.ts";
import { audit, links } from "../link.ts";
import { pageOf, pageQuery, representedPageQuery } from "../paging.ts";
import { bodiless, created, ok, route, routesOf } from "../route.ts";
import { frozenSafety, safetyBody } from "../safety.ts";
import { bodyId, flag, optionalName, pathId, requiredName, weight, withoutNulls } from "../values.ts";
import { maintenanceScheduleView } from "./action-view.ts";
import { maintenanceWindowBody } from "./assignment.ts";
import { listErrors, remarkQuery } from "./common.ts";
import { distributionSetView } from "./distribution-sets.contract.ts";
import { rolloutDecisionBody } from "./rollout-create.ts";
import { lastErrorView } from "./rollout-view.ts";

/**
 * A target filter (spec 001 §2.7); all members are always present, and those without a value are null (contract management.md §4.10). `lastError`
 * and the window are additions of ours and only present with a value, because clients of hawkBit do not know them.
 */
export const targetFilterView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    query: z.string(),
    autoAssignDistributionSet: z.int().nullable(),
    autoAssignActionType: z.enum(forceTypeNames).nullable(),
    autoAssignWeight: z.int().nullable(),
    confirmationRequired: z.boolean().nullable(),
    autoAssignMaintenanceWindow: maintenanceScheduleView.optional(),
    /** The policy of the auto-assignment; it is present only if there is one. */
    autoAssignSafety: frozenSafety.optional(),
    /** It is present only if the auto-assignment needed approval (`auto.assignment.approval.enabled`): nothing is assigned unless it is `running`. */
    autoAssignStatus: z.enum(["running", "waiting_for_approval", "approval_denied", "ready", "paused"]).optional(),
    /** Who has approved or denied it. */
    approveDecidedBy: z.string().optional(),
    approvalRemark: z.string().optional(),
    /** Why the work of its auto-assignment fails. */
    lastError: lastErrorView.optional(),
    _links: links("self", "autoAssignDS", "DS"),
  })
  .meta({ id: "TargetFilter" });
export type TargetFilterView = z.output<typeof targetFilterView>;
const targetFilterPage = pageOf(targetFilterView);

/** A stored query has at most so many characters (contract management.md §1.6). */
const maxQueryLength = 1024;

export const targetFilterCreate = z
  .object({ name: requiredName(128), query: requiredName(maxQueryLength) })
  .meta({ id: "TargetFilterCreate" });
export type TargetFilterCreate = z.output<typeof targetFilterCreate>;

/** The change of a filter; absent or null members stay as they are. */
export const targetFilterUpdate = z
  .object({ name: optionalName(128), query: optionalName(maxQueryLength) })
  .meta({ id: "TargetFilterUpdate" });
export type TargetFilterUpdate = z.output<typeof targetFilterUpdate>;

/** The auto-assignment of a filter; `timeforced` can be read but is refused (contract management.md §4.10). */
export const autoAssignBody = z
  .object({
    id: bodyId,
    type: z.enum(forceTypeNames).default("forced"),
    weight: weight.prefault(1000),
    maintenanceWindow: maintenanceWindowBody.optional(),
    confirmationRequired: flag().optional(),
    safety: safetyBody.optional(),
  })
  .meta({ id: "AutoAssignment" });
export type AutoAssignment = z.output<typeof autoAssignBody>;

const one = z.object({ filterId: pathId });
const path = "/targetfilters/:filterId";
const autoAssign = `${path}/autoAssignDS`;
const common = { service: "rollout-engine", interface: "management", source: "spec 001 §4.5" } as const;
const queryErrors = ["rsqlParamSyntax", "rsqlInvalidField"] as const;

/** Makes a decision about an auto-assignment that waits for approval; its remark may come in the query or in the body, as for rollouts. */
function decision(name: "approve" | "deny", summary: string) {
  return route({
    ...common,
    id: `targetFilters.${name}AutoAssign`,
    method: "POST",
    path: `${autoAssign}/${name}`,
    params: one,
    query: remarkQuery,
    body: rolloutDecisionBody,
    bodyKind: "optional-json",
    success: bodiless,
    permission: ["APPROVE_ROLLOUT"],
    errors: ["constraintViolation", "entityNotFound", "rolloutIllegalState", "concurrentModification", "entityChanged"],
    summary,
    source: "contract rollouts.md §4.11",
  });
}

/** The operations on target filters (spec 001 §4.5). */
export const targetFilters = routesOf("targetFilters", common, {
  list: {
    method: "GET",
    path: "/targetfilters",
    query: representedPageQuery,
    success: ok,
    response: targetFilterPage,
    permission: ["READ_TARGET"],
    errors: listErrors,
    summary: "List target filters",
  },
  create: {
    method: "POST",
    path: "/targetfilters",
    body: withoutNulls(targetFilterCreate),
    success: created,
    response: targetFilterView,
    permission: ["CREATE_TARGET"],
    errors: ["constraintViolation", ...queryErrors, "entityAlreadyExists"],
    summary: "Create a target filter",
  },
  get: {
    method: "GET",
    path,
    params: one,
    success: ok,
    response: targetFilterView,
    permission: ["READ_TARGET"],
    errors: ["entityNotFound"],
    summary: "Get a target filter",
  },
  update: {
    method: "PUT",
    path,
    params: one,
    body: withoutNulls(targetFilterUpdate),
    success: ok,
    response: targetFilterView,
    permission: ["UPDATE_TARGET"],
    errors: [
      "constraintViolation",
      ...queryErrors,
      "entityNotFound",
      "entityAlreadyExists",
      "quotaTooManyEntries",
      "concurrentModification",
      "entityChanged",
    ],
    summary: "Change name or query of a target filter",
  },
  delete: {
    method: "DELETE",
    path,
    params: one,
    success: bodiless,
    permission: ["DELETE_TARGET"],
    errors: ["entityNotFound", "entityChanged"],
    summary: "Delete a target filter; actions that it has caused stay",
  },
  getAutoAssign: {
    // management owns sets, but not the rows of this list
    service: "management",
    method: "GET",
    path: autoAssign,
    params: one,
    success: ok,
    otherSuccess: { 204: "the filter assigns no distribution set" },
    response: distributionSetView,
    permission: ["READ_TARGET"],
    errors: ["entityNotFound"],
    summary: "Get the distribution set that a target filter assigns by itself",
  },
  setAutoAssign: {
    method: "POST",
    path: autoAssign,
    params: one,
    body: withoutNulls(autoAssignBody),
    success: ok,
    response: targetFilterView,
    permission: ["UPDATE_TARGET", "READ_REPOSITORY"],
    errors: [
      "constraintViolation",
      "invalidAutoAssignActionType",
      "maintenanceScheduleInvalid",
      "entityNotFound",
      "deleted",
      "setIncomplete",
      "setInvalid",
      "quotaTooManyEntries",
      "concurrentModification",
      "entityChanged",
    ],
    summary: "Let a target filter assign a distribution set to every target that it matches, now or later",
  },
  removeAutoAssign: {
    method: "DELETE",
    path: autoAssign,
    params: one,
    success: { spec: 204, rest: 204 },
    permission: ["UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "End the auto-assignment of a target filter; actions that it has caused stay",
  },
  approveAutoAssign: decision("approve", "Approve the auto-assignment of a target filter that waits for it"),
  denyAutoAssign: decision("deny", "Deny the auto-assignment of a target filter that waits for approval: it assigns nothing"),
});

/** The target filters that auto-assign a distribution set (spec 001 §4.1). */
export const filtersOfSet = routesOf("distributionSets", common, {
  autoAssignFilters: {
    method: "GET",
    path: "/distributionsets/:distributionSetId/autoAssignTargetFilters",
    params: z.object({ distributionSetId: pathId }),
    query: pageQuery,
    success: ok,
    response: targetFilterPage,
    permission: ["READ_REPOSITORY", "READ_TARGET"],
    errors: ["entityNotFound", ...listErrors],
    summary: "List the target filters that assign a distribution set by themselves",
    source: "spec 001 §4.1",
  },
});
