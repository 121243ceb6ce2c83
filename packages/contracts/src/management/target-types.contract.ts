import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { evidenceRule, evidenceRules } from "../safety-evidence.ts";
import { arrayBody, arrayOf, idReference, lookedUpText, optionalDescription, optionalName, pathId, withoutNulls } from "../values.ts";
import { listErrors } from "./common.ts";
import { distributionSetTypeView } from "./distribution-set-types.contract.ts";
import { colour, typeMembers } from "./type-members.ts";

/** A target type (spec 001 §2.7); it is never soft-deleted, so `deleted` is always false. */
export const targetTypeView = z
  .object({
    ...typeMembers,
    /** What targets of the type show when they run a distribution set; absent where there are no rules. */
    evidence: z.array(evidenceRule).optional(),
    _links: links("self", "compatibledistributionsettypes"),
  })
  .meta({ id: "TargetType" });
export type TargetTypeView = z.output<typeof targetTypeView>;

/** The creation of a target type; if key or name is missing, the other one is used for both (contract management.md §4.7). */
export const targetTypeCreate = z
  .object({
    key: optionalName(64),
    name: optionalName(128),
    description: optionalDescription(),
    colour,
    evidence: evidenceRules.optional(),
    compatibledistributionsettypes: arrayOf(idReference).optional(),
  })
  .meta({ id: "TargetTypeCreate" });
export type TargetTypeCreate = z.output<typeof targetTypeCreate>;

/** The change of a target type; absent or null members stay as they are, and the key never changes. Rules of evidence are replaced by those sent. */
const targetTypeUpdate = z
  .object({ name: optionalName(128), description: optionalDescription(), colour, evidence: evidenceRules.optional() })
  .meta({ id: "TargetTypeUpdate" });
export type TargetTypeUpdate = z.output<typeof targetTypeUpdate>;

const one = z.object({ targetTypeId: pathId });
const base = "/targettypes";
const path = `${base}/:targetTypeId`;
const compatible = `${path}/compatibledistributionsettypes`;

/** The operations on target types (spec 001 §4.5). */
export const targetTypes = routesOf(
  "targetTypes",
  { service: "management", interface: "management", source: "spec 001 §4.5" },
  {
    list: {
      method: "GET",
      path: base,
      query: pageQuery,
      success: ok,
      response: pageOf(targetTypeView),
      permission: ["READ_TARGET"],
      errors: listErrors,
      summary: "List target types",
    },
    create: {
      method: "POST",
      path: base,
      body: arrayBody(targetTypeCreate),
      success: created,
      response: z.array(targetTypeView),
      permission: ["CREATE_TARGET"],
      errors: [
        "constraintViolation",
        "targetTypeKeyOrNameRequired",
        "entityNotFound",
        "entityAlreadyExists",
        "quotaTooManyEntries",
        "concurrentModification",
      ],
      summary: "Create target types, all or none",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: targetTypeView,
      permission: ["READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Get a target type",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: withoutNulls(targetTypeUpdate),
      success: ok,
      response: targetTypeView,
      permission: ["UPDATE_TARGET"],
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "concurrentModification", "entityChanged"],
      summary: "Change a target type",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_TARGET"],
      errors: ["entityNotFound", "targetTypeUsed", "entityChanged"],
      summary: "Delete a target type that no target is of",
    },
    listCompatible: {
      method: "GET",
      path: compatible,
      params: one,
      success: ok,
      response: z.array(distributionSetTypeView),
      permission: ["READ_TARGET", "READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "List the distribution set types that targets of a type may get",
    },
    addCompatible: {
      method: "POST",
      path: compatible,
      params: one,
      body: arrayBody(idReference),
      success: bodiless,
      permission: ["UPDATE_TARGET", "READ_REPOSITORY"],
      errors: ["entityNotFound", "constraintViolation", "quotaTooManyEntries", "concurrentModification"],
      summary: "Add distribution set types that targets of a type may get",
    },
    removeCompatible: {
      method: "DELETE",
      path: `${compatible}/:distributionSetTypeId`,
      params: one.extend({ distributionSetTypeId: pathId }),
      success: bodiless,
      permission: ["UPDATE_TARGET", "READ_REPOSITORY"],
      errors: ["entityNotFound", "concurrentModification"],
      summary: "Remove a distribution set type from those that targets of a type may get",
    },
  },
);

const target = z.object({ targetId: lookedUpText });
const typePath = "/targets/:targetId/targettype";

/** The type of a target (spec 001 §4.2). */
export const typeOfTarget = routesOf(
  "targets",
  { service: "management", interface: "management", source: "spec 001 §4.2" },
  {
    setType: {
      method: "POST",
      path: typePath,
      params: target,
      body: withoutNulls(idReference),
      success: bodiless,
      permission: ["UPDATE_TARGET"],
      errors: ["entityNotFound", "concurrentModification"],
      summary: "Set the type of a target",
    },
    removeType: {
      method: "DELETE",
      path: typePath,
      params: target,
      success: bodiless,
      permission: ["UPDATE_TARGET"],
      errors: ["entityNotFound", "concurrentModification"],
      summary: "Take the type of a target away",
    },
  },
);
