import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery, plainPageQuery, queryFlag } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, arrayOf, flag, idReference, optionalDescription, optionalName, pathId, requiredName, withoutNulls } from "../values.ts";
import { assignmentResult, assignTargetsBody } from "./assignment.ts";
import { cursorListErrors, listErrors, plainListErrors, versionedMembers, withDeletedModes } from "./common.ts";
import { softwareModulePage, softwareModuleView } from "./software-modules.contract.ts";
import { targetPage } from "./target-view.ts";

/** A distribution set (spec 001 §2.2); only single answers have links besides `self` (contract management.md §1.5). */
export const distributionSetView = z
  .object({
    ...versionedMembers,
    complete: z.boolean(),
    locked: z.boolean(),
    deleted: z.boolean(),
    valid: z.boolean(),
    requiredMigrationStep: z.boolean(),
    modules: z.array(softwareModuleView),
    _links: links("self", "modules", "type", "metadata"),
  })
  .meta({ id: "DistributionSet" });
export type DistributionSetView = z.output<typeof distributionSetView>;
export const distributionSetPage = pageOf(distributionSetView);

/** The creation of a set; the members `os`, `runtime` and `application` of old clients join its modules (contract management.md §4.1). */
export const distributionSetCreate = z
  .object({
    name: requiredName(128),
    version: requiredName(64),
    description: optionalDescription(),
    type: optionalName(64),
    modules: arrayOf(idReference).optional(),
    os: idReference.optional(),
    runtime: idReference.optional(),
    application: idReference.optional(),
    requiredMigrationStep: flag().prefault(false),
    locked: flag().prefault(false),
  })
  .meta({ id: "DistributionSetCreate" })
  .transform(({ os, runtime, application, modules, ...set }) => ({
    ...set,
    modules: [...(modules ?? []), ...[os, runtime, application].filter((module) => module !== undefined)],
  }));
export type DistributionSetCreate = z.output<typeof distributionSetCreate>;

/** How a set becomes invalid (spec 001 §4.1): what happens to its actions and to its rollouts. */
export const distributionSetInvalidation = z
  .object({ actionCancelationType: z.enum(["soft", "force", "none"]), cancelRollouts: flag().prefault(false) })
  .meta({ id: "DistributionSetInvalidation" });
export type DistributionSetInvalidation = z.output<typeof distributionSetInvalidation>;

/** The change of a set; absent or null members stay as they are. */
export const distributionSetUpdate = z
  .object({
    name: optionalName(128),
    version: optionalName(64),
    description: optionalDescription(),
    locked: flag().optional(),
    requiredMigrationStep: flag().optional(),
  })
  .meta({ id: "DistributionSetUpdate" });
export type DistributionSetUpdate = z.output<typeof distributionSetUpdate>;

const one = z.object({ distributionSetId: pathId });
const base = "/distributionsets";
const path = `${base}/:distributionSetId`;

/** The operations on distribution sets (spec 001 §4.1). */
export const distributionSets = routesOf(
  "distributionSets",
  { service: "management", interface: "management", source: "spec 001 §4.1" },
  {
    list: {
      method: "GET",
      path: base,
      query: withDeletedModes(pageQuery),
      success: ok,
      response: distributionSetPage,
      permission: ["READ_REPOSITORY"],
      errors: listErrors,
      summary: "List distribution sets",
    },
    create: {
      method: "POST",
      path: base,
      body: arrayBody(distributionSetCreate),
      success: created,
      response: z.array(distributionSetView),
      permission: ["CREATE_REPOSITORY"],
      errors: ["constraintViolation", "entityNotFound", "modulesUnsupported", "entityAlreadyExists", "setIncomplete"],
      summary: "Create distribution sets, all or none",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: distributionSetView,
      permission: ["READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "Get a distribution set",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: withoutNulls(distributionSetUpdate),
      success: ok,
      response: distributionSetView,
      permission: ["UPDATE_REPOSITORY"],
      errors: [
        "constraintViolation",
        "entityNotFound",
        "setInvalid",
        "setIncomplete",
        "entityReadOnly",
        "entityAlreadyExists",
        "entityChanged",
      ],
      summary: "Change a distribution set",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_REPOSITORY"],
      errors: ["entityNotFound", "entityChanged"],
      summary: "Delete a distribution set; it stays readable while an action or a rollout refers to it",
    },
    invalidate: {
      method: "POST",
      path: `${path}/invalidate`,
      params: one,
      body: withoutNulls(distributionSetInvalidation),
      success: bodiless,
      permission: ["UPDATE_REPOSITORY", "UPDATE_TARGET"],
      errors: ["entityNotFound", "setInvalid", "setIncomplete", "deleted", "insufficientPermission"],
      summary: "Make a distribution set invalid for good, and end what goes on with it as far as is asked",
    },
    listModules: {
      method: "GET",
      path: `${path}/assignedSM`,
      params: one,
      query: plainPageQuery,
      success: ok,
      response: softwareModulePage,
      permission: ["READ_REPOSITORY"],
      errors: [...plainListErrors, "entityNotFound"],
      summary: "List the software modules of a distribution set",
    },
    assignModules: {
      method: "POST",
      path: `${path}/assignedSM`,
      params: one,
      body: arrayBody(idReference),
      success: bodiless,
      permission: ["READ_REPOSITORY", "UPDATE_REPOSITORY"],
      errors: ["entityNotFound", "entityReadOnly", "locked", "modulesUnsupported", "quotaTooManyEntries", "setInvalid"],
      summary: "Add software modules to a distribution set",
    },
    removeModule: {
      method: "DELETE",
      path: `${path}/assignedSM/:softwareModuleId`,
      params: one.extend({ softwareModuleId: pathId }),
      success: bodiless,
      permission: ["UPDATE_REPOSITORY"],
      errors: ["entityNotFound", "entityReadOnly", "locked", "setInvalid", "deleted"],
      summary: "Take a software module out of a distribution set",
    },
    assignTargets: {
      method: "POST",
      path: `${path}/assignedTargets`,
      params: one,
      query: z.object({ offline: queryFlag }),
      body: assignTargetsBody,
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
      summary: "Assign a distribution set to targets",
    },
    listAssignedTargets: {
      method: "GET",
      path: `${path}/assignedTargets`,
      params: one,
      query: pageQuery,
      success: ok,
      response: targetPage,
      permission: ["READ_REPOSITORY", "READ_TARGET"],
      errors: [...cursorListErrors, "entityNotFound"],
      summary: "List the targets that a distribution set is assigned to",
    },
    listInstalledTargets: {
      method: "GET",
      path: `${path}/installedTargets`,
      params: one,
      query: pageQuery,
      success: ok,
      response: targetPage,
      permission: ["READ_REPOSITORY", "READ_TARGET"],
      errors: [...cursorListErrors, "entityNotFound"],
      summary: "List the targets that a distribution set is installed on",
    },
  },
);
