import type { ErrorCode } from "@harrier/errors";
import { z } from "zod";
import { pageOf, pageQuery, representedPageQuery } from "../paging.ts";
import { bodiless, created, ok, type Route, route, routesOf } from "../route.ts";
import { pathId } from "../values.ts";
import { cursorListErrors, listErrors, remarkQuery, withDeletedModes } from "./common.ts";
import { rolloutCreateBody, rolloutDecisionBody, rolloutUpdateBody } from "./rollout-create.ts";
import { rolloutPreview } from "./rollout-preview.ts";
import { rolloutGroupView, rolloutView } from "./rollout-view.ts";
import { targetPage } from "./target-view.ts";

const one = z.object({ rolloutId: pathId });
const group = z.object({ rolloutId: pathId, groupId: pathId });
const base = "/rollouts";
const path = `${base}/:rolloutId`;
const groups = `${path}/deploygroups`;

/** Makes a command on a rollout: it has no body either way, and is an error if the rollout is in another state. */
function step(
  name: "start" | "pause" | "resume" | "stop" | "triggerNextGroup",
  summary: string,
  more: Partial<Pick<Route, "permission" | "permissionRest" | "source">> = {},
): Route<z.output<typeof one>, Record<string, never>, undefined, undefined, undefined> {
  return route({
    id: `rollouts.${name}`,
    service: "rollout-engine",
    interface: "management",
    method: "POST",
    path: `${path}/${name}`,
    params: one,
    success: bodiless,
    permission: ["HANDLE_ROLLOUT"],
    errors: ["entityNotFound", "rolloutIllegalState"],
    summary,
    source: "spec 001 §4.6",
    ...more,
  });
}

/** Makes a decision about a rollout that waits for approval; its remark may come in the query or in the body. */
function decision(name: "approve" | "deny", summary: string) {
  return route({
    id: `rollouts.${name}`,
    service: "rollout-engine",
    interface: "management",
    method: "POST",
    path: `${path}/${name}`,
    params: one,
    query: remarkQuery,
    body: rolloutDecisionBody,
    bodyKind: "optional-json",
    success: bodiless,
    permission: ["APPROVE_ROLLOUT"],
    errors: ["constraintViolation", "entityNotFound", "rolloutIllegalState", "entityChanged"],
    summary,
    source: "spec 001 §4.6",
  });
}

/** The errors of a creation (contract rollouts.md §2.4). */
const creationErrors: readonly ErrorCode[] = [
  "rsqlParamSyntax",
  "rsqlInvalidField",
  "entityNotFound",
  "setInvalid",
  "setIncomplete",
  "deleted",
  "constraintViolation",
  "maintenanceScheduleInvalid",
  "quotaTooManyEntries",
  "entityAlreadyExists",
];

/** The operations on rollouts (spec 001 §4.6). */
export const rollouts = routesOf(
  "rollouts",
  { service: "rollout-engine", interface: "management" },
  {
    list: {
      method: "GET",
      path: base,
      query: withDeletedModes(representedPageQuery),
      success: ok,
      response: pageOf(rolloutView),
      permission: ["READ_ROLLOUT"],
      errors: listErrors,
      summary: "List rollouts",
      source: "spec 001 §4.6",
    },
    create: {
      method: "POST",
      path: base,
      body: rolloutCreateBody,
      success: created,
      response: rolloutView,
      // a rollout with startAt needs HANDLE_ROLLOUT too; the owner checks it, because only the body tells (contract rollouts.md §2)
      permission: ["CREATE_ROLLOUT"],
      errors: creationErrors,
      summary: "Create a rollout",
      source: "spec 001 §4.6",
    },
    preview: {
      onlyReads: true,
      method: "POST",
      path: `${base}/preview`,
      body: rolloutCreateBody,
      success: ok,
      response: rolloutPreview,
      permission: ["CREATE_ROLLOUT"],
      errors: creationErrors,
      summary: "Tell what a rollout would be, without creating it",
      source: "contract extensions.md, rollout preview",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: rolloutView,
      permission: ["READ_ROLLOUT"],
      errors: ["entityNotFound"],
      summary: "Get a rollout",
      source: "spec 001 §4.6",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: rolloutUpdateBody,
      success: ok,
      response: rolloutView,
      permission: ["UPDATE_ROLLOUT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly", "entityAlreadyExists", "concurrentModification", "entityChanged"],
      summary: "Change name or description of a rollout",
      source: "spec 001 §4.6",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_ROLLOUT"],
      errors: ["entityNotFound", "entityChanged"],
      summary: "Delete a rollout in any status; its open actions are closed without their devices",
      source: "spec 001 §4.6",
    },
    start: step("start", "Start a rollout that is ready"),
    pause: step("pause", "Pause a running rollout"),
    resume: step("resume", "Resume a paused rollout"),
    retry: {
      method: "POST",
      path: `${path}/retry`,
      params: one,
      success: created,
      response: rolloutView,
      permission: ["CREATE_ROLLOUT"],
      errors: [
        "entityNotFound",
        "setInvalid",
        "setIncomplete",
        "deleted",
        "constraintViolation",
        "maintenanceScheduleInvalid",
        "quotaTooManyEntries",
        "entityAlreadyExists",
      ],
      summary: "Create a rollout for the targets that another one has failed on",
      source: "spec 001 §4.6",
    },
    approve: decision("approve", "Approve a rollout that waits for approval"),
    deny: decision("deny", "Deny a rollout that waits for approval"),
    stop: step("stop", "Stop a rollout for good: what has not begun is taken back, open actions are cancelled", {
      // hawkBit 1.x documents one permission and checks the other
      permissionRest: [["UPDATE_ROLLOUT"]],
      source: "contract rollouts.md §2",
    }),
    triggerNextGroup: step("triggerNextGroup", "Begin the next group of a running rollout now", { permission: ["UPDATE_ROLLOUT"] }),
    listGroups: {
      method: "GET",
      path: groups,
      params: one,
      query: representedPageQuery,
      success: ok,
      response: pageOf(rolloutGroupView),
      permission: ["READ_ROLLOUT"],
      errors: [...listErrors, "entityNotFound"],
      summary: "List the groups of a rollout",
      source: "spec 001 §4.6",
    },
    getGroup: {
      method: "GET",
      path: `${groups}/:groupId`,
      params: group,
      success: ok,
      response: rolloutGroupView,
      permission: ["READ_ROLLOUT"],
      errors: ["entityNotFound"],
      summary: "Get a group of a rollout",
      source: "spec 001 §4.6",
    },
    groupTargets: {
      method: "GET",
      path: `${groups}/:groupId/targets`,
      params: group,
      query: pageQuery,
      success: ok,
      response: targetPage,
      permission: ["READ_ROLLOUT", "READ_TARGET"],
      errors: [...cursorListErrors, "entityNotFound"],
      summary: "List the targets of a group",
      source: "spec 001 §4.6",
    },
  },
);
