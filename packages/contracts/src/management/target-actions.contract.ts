import { z } from "zod";
import { forceTypeNames } from "../codes.ts";
import { details } from "../device/feedback.ts";
import { pageOf, pageQuery, plainPageQuery, queryFlag } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { int32, lookedUpText, pathId, requiredText, withoutNulls } from "../values.ts";
import { actionPage, actionPageRest, actionStatusView, actionView, actionViewRest } from "./action-view.ts";
import { cursorListErrors, plainListErrors } from "./common.ts";

const target = z.object({ targetId: lookedUpText });
const one = z.object({ targetId: lookedUpText, actionId: pathId });
const base = "/targets/:targetId/actions";
const path = `${base}/:actionId`;

/** Only the change to forced exists; every other value violates a constraint (contract rollouts.md §6). */
export const forceActionBody = withoutNulls(
  z
    .object({ forceType: z.enum(forceTypeNames).optional() })
    .refine((body) => body.forceType === "forced", { path: ["forceType"], error: "must be forced" })
    .meta({ id: "ActionUpdate" }),
);

/** A confirmation in place of the device; without one the body cannot be read (contract rollouts.md §6). */
export const confirmActionBody = withoutNulls(
  z.object({ confirmation: z.enum(["confirmed", "denied"]), code: int32.optional(), details }).meta({ id: "ActionConfirmation" }),
);

export type ActionConfirmation = z.output<typeof confirmActionBody>;

/** The decision of a person about a success that is not proven yet, or is still watched; its history entry has the remark. */
const proveActionBody = withoutNulls(
  z.object({ verdict: z.enum(["proven", "refuted"]), remark: requiredText(255) }).meta({ id: "ActionProofDecision" }),
);

/** The operations on actions of a target (spec 001 §4.2). */
export const targetActions = routesOf(
  "targets",
  { service: "management", interface: "management" },
  {
    listActions: {
      method: "GET",
      path: base,
      params: target,
      query: pageQuery,
      success: ok,
      response: actionPage,
      responseRest: actionPageRest,
      permission: ["READ_TARGET"],
      errors: [...cursorListErrors, "entityNotFound"],
      summary: "List the actions of a target, newest first",
      source: "spec 001 §4.2",
    },
    getAction: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: actionView,
      responseRest: actionViewRest,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound", "stateNotFound"],
      summary: "Get an action of a target",
      source: "spec 001 §4.2",
    },
    actionStatus: {
      method: "GET",
      path: `${path}/status`,
      params: one,
      query: plainPageQuery,
      success: ok,
      response: pageOf(actionStatusView),
      permission: ["READ_TARGET"],
      errors: [...plainListErrors, "entityNotFound", "stateNotFound"],
      summary: "List the history of an action, newest first",
      source: "spec 001 §4.2",
    },
    forceAction: {
      method: "PUT",
      path,
      params: one,
      body: forceActionBody,
      success: ok,
      response: actionView,
      responseRest: actionViewRest,
      permission: ["UPDATE_TARGET"],
      errors: ["constraintViolation", "entityNotFound", "stateNotFound", "entityChanged"],
      summary: "Switch an action to forced",
      source: "spec 001 §4.2",
    },
    cancelAction: {
      method: "DELETE",
      path,
      params: one,
      query: z.object({ force: queryFlag }),
      // it is one of the five operations that answer 204 in every dialect (contract management.md §1.8)
      success: { spec: 204, rest: 204 },
      permission: ["UPDATE_TARGET"],
      errors: ["entityNotFound", "stateNotFound", "actionNotCancelable", "actionNotForceQuitable"],
      summary: "Cancel an action; `force` ends one that is already being cancelled",
      source: "spec 001 §4.2",
    },
    confirmAction: {
      method: "PUT",
      path: `${path}/confirmation`,
      params: one,
      body: confirmActionBody,
      success: bodiless,
      permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
      errors: ["entityNotFound", "stateNotFound", "actionClosed", "quotaTooManyEntries", "entityChanged"],
      summary: "Confirm or deny an action that waits for it",
      source: "spec 001 §4.2",
    },
    proveAction: {
      method: "POST",
      path: `${path}/proof`,
      params: one,
      body: proveActionBody,
      success: ok,
      response: actionView,
      responseRest: actionViewRest,
      permission: ["UPDATE_TARGET"],
      errors: ["constraintViolation", "entityNotFound", "stateNotFound", "actionNotProving"],
      summary: "Decide whether a success is proven that is awaited or still watched",
      source: "contract beyond.md §1.4",
    },
    retryAction: {
      method: "POST",
      path: `${path}/retry`,
      params: one,
      success: created,
      response: actionView,
      responseRest: actionViewRest,
      permission: ["UPDATE_TARGET"],
      errors: ["entityNotFound", "stateNotFound", "actionNotRetryable", "quotaTooManyEntries"],
      summary: "Try a failed action again at once: a new action, which counts in its place",
      source: "contract beyond.md §3",
    },
  },
);
