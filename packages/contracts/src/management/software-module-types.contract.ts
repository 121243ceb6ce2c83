import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { arrayBody, int32, pathId, withoutNulls } from "../values.ts";
import { listErrors, withDeletedModes } from "./common.ts";
import { typeCreateMembers, typeMembers, typeUpdate } from "./type-members.ts";

/** A software module type (spec 001 §2.7). */
export const softwareModuleTypeView = z
  .object({ ...typeMembers, maxAssignments: z.int(), minArtifacts: z.int(), _links: links("self") })
  .meta({ id: "SoftwareModuleType" });
export type SoftwareModuleTypeView = z.output<typeof softwareModuleTypeView>;

const maxAssignments = shownAs(
  int32.refine((value) => value >= 1, "must not be below 1"),
  { type: "integer", format: "int32", minimum: 1 },
);

/** A module needs so many artifacts to be complete, and so does every set that contains it (hawkBit 1.1). */
const minArtifacts = shownAs(
  int32.refine((value) => value >= 0, "must not be below 0"),
  { type: "integer", format: "int32", minimum: 0 },
);

/** The creation of a software module type; without `maxAssignments` a set takes one module of it (contract management.md §4.4). */
export const softwareModuleTypeCreate = z
  .object({ ...typeCreateMembers, maxAssignments: maxAssignments.prefault(1), minArtifacts: minArtifacts.prefault(0) })
  .meta({ id: "SoftwareModuleTypeCreate" });
export type SoftwareModuleTypeCreate = z.output<typeof softwareModuleTypeCreate>;

/** Everything that can be changed; absent or null members stay as they are (contract management.md §4.4). */
const softwareModuleTypeUpdate = typeUpdate.extend({ minArtifacts: minArtifacts.optional() }).meta({ id: "SoftwareModuleTypeUpdate" });
export type SoftwareModuleTypeUpdate = z.output<typeof softwareModuleTypeUpdate>;

const one = z.object({ softwareModuleTypeId: pathId });
const base = "/softwaremoduletypes";
const path = `${base}/:softwareModuleTypeId`;

/** The operations on software module types (spec 001 §4.4). */
export const softwareModuleTypes = routesOf(
  "softwareModuleTypes",
  { service: "management", interface: "management", source: "spec 001 §4.4" },
  {
    list: {
      method: "GET",
      path: base,
      query: withDeletedModes(pageQuery),
      success: ok,
      response: pageOf(softwareModuleTypeView),
      permission: ["READ_REPOSITORY"],
      errors: listErrors,
      summary: "List software module types",
    },
    create: {
      method: "POST",
      path: base,
      body: arrayBody(softwareModuleTypeCreate),
      success: created,
      response: z.array(softwareModuleTypeView),
      permission: ["CREATE_REPOSITORY"],
      errors: ["constraintViolation", "entityAlreadyExists"],
      summary: "Create software module types, all or none",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: softwareModuleTypeView,
      permission: ["READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "Get a software module type",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: withoutNulls(softwareModuleTypeUpdate),
      success: ok,
      response: softwareModuleTypeView,
      permission: ["UPDATE_REPOSITORY"],
      errors: ["constraintViolation", "entityNotFound", "concurrentModification", "entityChanged"],
      summary: "Change description, colour or minArtifacts of a software module type",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_REPOSITORY"],
      errors: ["entityNotFound", "concurrentModification", "entityChanged"],
      summary: "Delete a software module type; it stays readable while a module or a set type refers to it",
    },
  },
);
