import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, flag, optionalDescription, pathId, requiredName, withoutNulls } from "../values.ts";
import { listErrors, versionedMembers, withDeletedModes } from "./common.ts";

/** A software module (spec 001 §2.3); only single answers have links besides `self` (contract management.md §1.5). */
export const softwareModuleView = z
  .object({
    ...versionedMembers,
    vendor: z.string().optional(),
    encrypted: z.boolean(),
    locked: z.boolean(),
    deleted: z.boolean(),
    complete: z.boolean().describe("Whether it has the artifacts that its type asks for"),
    _links: links("self", "artifacts", "type", "metadata"),
  })
  .meta({ id: "SoftwareModule" });
export const softwareModulePage = pageOf(softwareModuleView);
export type SoftwareModuleView = z.output<typeof softwareModuleView>;

/** The creation of a software module (contract management.md §4.2). */
export const softwareModuleCreate = z
  .object({
    name: requiredName(128),
    version: requiredName(64),
    type: requiredName(64),
    description: optionalDescription(),
    vendor: optionalDescription(256),
    encrypted: flag().prefault(false),
  })
  .meta({ id: "SoftwareModuleCreate" });
export type SoftwareModuleCreate = z.output<typeof softwareModuleCreate>;

/** The change of a software module; absent or null members stay as they are. */
export const softwareModuleUpdate = z
  .object({ description: optionalDescription(), vendor: optionalDescription(256), locked: flag().optional() })
  .meta({ id: "SoftwareModuleUpdate" });
export type SoftwareModuleUpdate = z.output<typeof softwareModuleUpdate>;

const one = z.object({ softwareModuleId: pathId });
const path = "/softwaremodules/:softwareModuleId";

/** The operations on software modules (spec 001 §4.4). */
export const softwareModules = routesOf(
  "softwareModules",
  { service: "management", interface: "management", source: "spec 001 §4.4" },
  {
    list: {
      method: "GET",
      path: "/softwaremodules",
      query: withDeletedModes(pageQuery),
      success: ok,
      response: softwareModulePage,
      permission: ["READ_REPOSITORY"],
      errors: listErrors,
      summary: "List software modules",
    },
    create: {
      method: "POST",
      path: "/softwaremodules",
      body: arrayBody(softwareModuleCreate),
      success: created,
      response: z.array(softwareModuleView),
      permission: ["CREATE_REPOSITORY"],
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "encryptionNotSupported"],
      summary: "Create software modules, all or none",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: softwareModuleView,
      permission: ["READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "Get a software module",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: withoutNulls(softwareModuleUpdate),
      success: ok,
      response: softwareModuleView,
      permission: ["UPDATE_REPOSITORY"],
      errors: ["constraintViolation", "entityNotFound", "concurrentModification", "entityChanged"],
      summary: "Change description, vendor or lock of a software module",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_REPOSITORY"],
      errors: ["entityNotFound", "locked", "entityChanged"],
      summary: "Delete a software module; it stays readable while a set holds it",
    },
  },
);
