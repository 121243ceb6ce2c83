import { z } from "zod";
import { forceTypeNames } from "../codes.ts";
import { audit, links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { created, ok, route, routesOf } from "../route.ts";
import { frozenSafety, safetyBody } from "../safety.ts";
import { bodyId, epochMs, flag, optionalDescription, optionalName, pathId, requiredName, weight, withoutNulls } from "../values.ts";
import { listErrors, remarkQuery } from "./common.ts";
import { lastErrorView } from "./rollout-view.ts";

/** The states of an auto-assignment; only one that is `running` assigns anything. */
export const autoAssignmentStatusNames = ["waiting_for_approval", "approval_denied", "ready", "paused", "running"] as const;

/** An auto-assignment: a distribution set for every target that matches a query, now or later. Its links are the commands that its state allows. */
export const autoAssignmentView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    description: z.string().optional(),
    targetFilterQuery: z.string(),
    distributionSetId: z.int(),
    status: z.enum(autoAssignmentStatusNames),
    startAt: z.int().optional(),
    actionType: z.enum(forceTypeNames),
    weight: z.int(),
    confirmationRequired: z.boolean(),
    safety: frozenSafety.optional(),
    approvalDecidedBy: z.string().optional(),
    approvalRemark: z.string().optional(),
    /** Why its work fails. */
    lastError: lastErrorView.optional(),
    _links: links("self", "approve", "deny", "start", "pause", "resume", "distributionset"),
  })
  .meta({ id: "AutoAssignmentDetails" });
export type AutoAssignmentView = z.output<typeof autoAssignmentView>;
const autoAssignmentPage = pageOf(autoAssignmentView);

/** A stored query has at most so many characters (contract management.md §1.6). */
const maxQueryLength = 1024;

export const autoAssignmentCreate = z
  .object({
    name: requiredName(128),
    description: optionalDescription(),
    targetFilterQuery: requiredName(maxQueryLength),
    distributionSetId: bodyId,
    startAt: epochMs.optional(),
    actionType: z.enum(forceTypeNames).default("forced"),
    weight: weight.prefault(1000),
    confirmationRequired: flag().optional(),
    safety: safetyBody.optional(),
  })
  .meta({ id: "AutoAssignmentCreate" });
export type AutoAssignmentCreate = z.output<typeof autoAssignmentCreate>;

/** The change of an auto-assignment; absent or null members stay, and what it does cannot be changed. */
export const autoAssignmentUpdate = z
  .object({ name: optionalName(128), description: optionalDescription() })
  .meta({ id: "AutoAssignmentUpdate" });
export type AutoAssignmentUpdate = z.output<typeof autoAssignmentUpdate>;

const path = "/autoassignments";
const params = z.object({ autoAssignmentId: pathId });
const common = { service: "rollout-engine", interface: "management", source: "contract management.md §11" } as const;
const one = { ...common, path: `${path}/:autoAssignmentId`, params } as const;
const done = { spec: 204, rest: 204 } as const;
const stepErrors = ["entityNotFound", "autoAssignmentIllegalState", "concurrentModification"] as const;

/** Makes a command that leads an auto-assignment from one state to another. */
function step(name: "start" | "pause" | "resume", summary: string) {
  return route({
    ...one,
    id: `autoAssignments.${name}`,
    method: "POST",
    path: `${one.path}/${name}`,
    success: done,
    permission: ["UPDATE_TARGET"],
    errors: stepErrors,
    summary,
  });
}

/** Makes a decision about an auto-assignment that waits for approval. */
function decision(name: "approve" | "deny", summary: string) {
  return route({
    ...one,
    id: `autoAssignments.${name}`,
    method: "POST",
    path: `${one.path}/${name}`,
    query: remarkQuery,
    success: done,
    permission: ["APPROVE_ROLLOUT"],
    errors: ["constraintViolation", ...stepErrors, "entityChanged"],
    summary,
  });
}

/** Auto-assignments as a resource of their own, as in hawkBit's newest interface; those of target filters are among them. */
export const autoAssignments = routesOf(
  "autoAssignments",
  {},
  {
    list: {
      ...common,
      method: "GET",
      path,
      query: pageQuery,
      success: ok,
      response: autoAssignmentPage,
      permission: ["READ_TARGET"],
      errors: listErrors,
      summary: "List auto-assignments",
    },
    create: {
      ...common,
      method: "POST",
      path,
      body: withoutNulls(autoAssignmentCreate),
      success: created,
      response: autoAssignmentView,
      permission: ["UPDATE_TARGET", "READ_REPOSITORY"],
      errors: [
        "constraintViolation",
        "rsqlParamSyntax",
        "rsqlInvalidField",
        "invalidAutoAssignActionType",
        "entityNotFound",
        "entityAlreadyExists",
        "deleted",
        "setIncomplete",
        "setInvalid",
        "quotaTooManyEntries",
        "concurrentModification",
      ],
      summary: "Create an auto-assignment; of a filter of the same name and query it becomes the filter's own",
    },
    get: {
      ...one,
      method: "GET",
      success: ok,
      response: autoAssignmentView,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get an auto-assignment",
    },
    update: {
      ...one,
      method: "PUT",
      body: withoutNulls(autoAssignmentUpdate),
      success: ok,
      response: autoAssignmentView,
      permission: ["UPDATE_TARGET"],
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "concurrentModification", "entityChanged"],
      summary: "Change name or description of an auto-assignment; a filter that it belongs to is renamed with it",
    },
    delete: {
      ...one,
      method: "DELETE",
      success: done,
      permission: ["UPDATE_TARGET"],
      errors: ["entityNotFound", "concurrentModification", "entityChanged"],
      summary: "Delete an auto-assignment; a filter that it belongs to stays, and so do actions that it has caused",
    },
    approve: decision("approve", "Approve an auto-assignment that waits for it"),
    deny: decision("deny", "Deny an auto-assignment that waits for approval: it assigns nothing"),
    start: step("start", "Start an auto-assignment before its time"),
    pause: step("pause", "Pause an auto-assignment: nothing is assigned after the answer"),
    resume: step("resume", "Let a paused auto-assignment go on"),
  },
);

export const autoAssignmentsOfSet = routesOf("distributionSets", common, {
  autoAssignments: {
    method: "GET",
    path: "/distributionsets/:distributionSetId/autoAssignments",
    params: z.object({ distributionSetId: pathId }),
    query: pageQuery,
    success: ok,
    response: autoAssignmentPage,
    permission: ["READ_REPOSITORY", "READ_TARGET"],
    errors: ["entityNotFound", ...listErrors],
    summary: "List the auto-assignments of a distribution set",
  },
});
