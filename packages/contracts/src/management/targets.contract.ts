import { z } from "zod";
import { queryFlag, representedPageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import {
  arrayBody,
  bodyId,
  flag,
  lookedUpText,
  newControllerId,
  optionalDescription,
  optionalName,
  optionalText,
  requiredName,
  withoutNulls,
} from "../values.ts";
import { assignmentResult, assignSetsBody } from "./assignment.ts";
import { cursorListErrors } from "./common.ts";
import { distributionSetView } from "./distribution-sets.contract.ts";
import { groupMember } from "./target-groups.contract.ts";
import { targetPage, targetView } from "./target-view.ts";

/** A new security token of a target or a gateway has at least so many characters; shorter ones that exist stay valid. */
export const minTokenLength = 16;

const changeable = {
  name: optionalName(128),
  description: optionalDescription(),
  address: optionalText(512),
  securityToken: optionalName(128),
  targetType: bodyId.optional(),
  group: groupMember,
};

/** The creation of a target (contract management.md §4.6); the name defaults to the controllerId, cut to 128 characters. */
export const targetCreate = z
  .object({
    controllerId: newControllerId(requiredName(256)),
    ...changeable,
    securityToken: optionalName(128, minTokenLength),
    // with false, the device is not asked for its attributes until a user requests them or a deployment ends
    requestAttributes: flag().optional(),
  })
  .meta({ id: "TargetCreate" });
export type TargetCreate = z.output<typeof targetCreate>;

/**
 * The change of a target. Absent or null members stay, `targetType: -1` removes the type, `group: ""` removes it from its group, `controllerId` is
 * ignored. Its own token is accepted again, however short it is.
 */
export const targetUpdate = z.object({ ...changeable, requestAttributes: flag().optional() }).meta({ id: "TargetUpdate" });
export type TargetUpdate = z.output<typeof targetUpdate>;

const one = z.object({ targetId: lookedUpText });
const base = "/targets";
const path = `${base}/:targetId`;

/** The operations on targets; `targetId` is the controllerId (spec 001 §4.2). */
export const targets = routesOf(
  "targets",
  { service: "management", interface: "management", source: "spec 001 §4.2" },
  {
    list: {
      method: "GET",
      path: base,
      query: representedPageQuery,
      success: ok,
      response: targetPage,
      permission: ["READ_TARGET"],
      errors: cursorListErrors,
      summary: "List targets",
    },
    create: {
      method: "POST",
      path: base,
      body: arrayBody(targetCreate),
      success: created,
      response: z.array(targetView),
      permission: ["CREATE_TARGET"],
      errors: ["constraintViolation", "invalidTargetAddress", "entityNotFound", "entityAlreadyExists"],
      summary: "Create targets, all or none",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: targetView,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get a target",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: withoutNulls(targetUpdate),
      success: ok,
      response: targetView,
      permission: ["UPDATE_TARGET"],
      errors: ["constraintViolation", "invalidTargetAddress", "entityNotFound", "concurrentModification", "entityChanged"],
      summary: "Change a target",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_TARGET"],
      errors: ["entityNotFound", "entityChanged"],
      summary: "Delete a target with its actions",
    },
    attributes: {
      method: "GET",
      path: `${path}/attributes`,
      params: one,
      success: ok,
      otherSuccess: { 204: "The target has no attributes" },
      response: z.record(z.string(), z.string()).meta({ id: "TargetAttributes" }),
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get the attributes that a device has sent",
    },
    assignedSet: {
      method: "GET",
      path: `${path}/assignedDS`,
      params: one,
      success: ok,
      otherSuccess: { 204: "No set is assigned" },
      response: distributionSetView,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get the assigned distribution set",
    },
    installedSet: {
      method: "GET",
      path: `${path}/installedDS`,
      params: one,
      success: ok,
      otherSuccess: { 204: "No set is installed" },
      response: distributionSetView,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get the installed distribution set",
    },
    assign: {
      method: "POST",
      path: `${path}/assignedDS`,
      params: one,
      query: z.object({ offline: queryFlag }),
      body: assignSetsBody,
      success: ok,
      response: assignmentResult,
      permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
      errors: [
        "constraintViolation",
        "maintenanceScheduleInvalid",
        "multiAssignmentNotEnabled",
        "quotaTooManyEntries",
        "entityNotFound",
        "setInvalid",
        "setIncomplete",
        "deleted",
        "targetTypeIncompatible",
      ],
      summary: "Assign a distribution set to a target",
    },
  },
);
