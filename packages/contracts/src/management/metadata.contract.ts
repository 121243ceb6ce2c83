import { z } from "zod";
import { pageOf, uncursoredPageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, flag, lookedUpText, optionalText, pathId, requiredText, withoutNulls } from "../values.ts";
import { listErrors } from "./common.ts";

/** A metadata entry of a set (spec 001 §2.2). */
export const metadataView = z.object({ key: z.string(), value: z.string().optional() }).meta({ id: "Metadata" });
export type MetadataView = z.output<typeof metadataView>;
export const metadataPage = pageOf(metadataView);

/** A metadata entry of a module; if targets may see it, their deployments contain it (spec 001 §2.3). */
export const moduleMetadataView = z
  .object({ key: z.string(), value: z.string().optional(), targetVisible: z.boolean() })
  .meta({ id: "SoftwareModuleMetadata" });
export type ModuleMetadataView = z.output<typeof moduleMetadataView>;

const value = optionalText(4_000);
const entry = { key: requiredText(128), value };

/** The creation of an entry (contract management.md §1.6, §4.1). */
export const metadataCreate = z.object(entry).meta({ id: "MetadataCreate" });
/** The change of an entry; an absent or null value stays as it is. */
export const metadataUpdate = z.object({ value }).meta({ id: "MetadataUpdate" });
/** The creation of a module's entry; devices see it only if the request says so (contract management.md §4.2). */
export const moduleMetadataCreate = z
  .object({ ...entry, targetVisible: flag().prefault(false) })
  .meta({ id: "SoftwareModuleMetadataCreate" });
export const moduleMetadataUpdate = z.object({ value, targetVisible: flag().optional() }).meta({ id: "SoftwareModuleMetadataUpdate" });

const common = { service: "management", interface: "management" } as const;
/** On hawkBit 1.x the answer does not contain what was stored (contract clients.md, "Two dialects"). */
const silentOnRest = { responseRest: null } as const;
const oneModule = z.object({ softwareModuleId: pathId });
const oneSet = z.object({ distributionSetId: pathId });
const key = { metadataKey: lookedUpText };
const ofModule = "/softwaremodules/:softwareModuleId/metadata";
const ofSet = "/distributionsets/:distributionSetId/metadata";

/** The operations on metadata of software modules (spec 001 §4.4). */
export const moduleMetadata = routesOf("softwareModules", common, {
  listMetadata: {
    method: "GET",
    path: ofModule,
    params: oneModule,
    query: uncursoredPageQuery,
    success: ok,
    response: pageOf(moduleMetadataView),
    permission: ["READ_REPOSITORY"],
    errors: [...listErrors, "entityNotFound"],
    summary: "List the metadata of a software module",
    source: "spec 001 §4.4",
  },
  createMetadata: {
    ...silentOnRest,
    method: "POST",
    path: ofModule,
    params: oneModule,
    body: arrayBody(moduleMetadataCreate),
    success: created,
    response: z.array(moduleMetadataView),
    permission: ["UPDATE_REPOSITORY"],
    errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "quotaTooManyEntries"],
    summary: "Add metadata to a software module, all or none",
    source: "spec 001 §4.4",
  },
  getMetadata: {
    method: "GET",
    path: `${ofModule}/:metadataKey`,
    params: oneModule.extend(key),
    success: ok,
    response: moduleMetadataView,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Get a metadata entry of a software module",
    source: "spec 001 §4.4",
  },
  updateMetadata: {
    ...silentOnRest,
    method: "PUT",
    path: `${ofModule}/:metadataKey`,
    params: oneModule.extend(key),
    body: withoutNulls(moduleMetadataUpdate),
    success: bodiless,
    response: moduleMetadataView,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["constraintViolation", "entityNotFound", "concurrentModification", "entityChanged"],
    summary: "Change a metadata entry of a software module",
    source: "spec 001 §4.4",
  },
  deleteMetadata: {
    method: "DELETE",
    path: `${ofModule}/:metadataKey`,
    params: oneModule.extend(key),
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound", "concurrentModification"],
    summary: "Delete a metadata entry of a software module",
    source: "spec 001 §4.4",
  },
});

/** The operations on metadata of distribution sets, which devices do not see (spec 001 §4.1). */
export const setMetadata = routesOf("distributionSets", common, {
  listMetadata: {
    method: "GET",
    path: ofSet,
    params: oneSet,
    query: uncursoredPageQuery,
    success: ok,
    response: metadataPage,
    permission: ["READ_REPOSITORY"],
    errors: [...listErrors, "entityNotFound"],
    summary: "List the metadata of a distribution set",
    source: "spec 001 §4.1",
  },
  createMetadata: {
    ...silentOnRest,
    method: "POST",
    path: ofSet,
    params: oneSet,
    body: arrayBody(metadataCreate),
    success: created,
    response: z.array(metadataView),
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    permissionRest: [["UPDATE_REPOSITORY"]],
    errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "quotaTooManyEntries", "setInvalid", "deleted"],
    summary: "Add metadata to a distribution set, all or none",
    source: "spec 001 §4.1",
  },
  getMetadata: {
    method: "GET",
    path: `${ofSet}/:metadataKey`,
    params: oneSet.extend(key),
    success: ok,
    response: metadataView,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Get a metadata entry of a distribution set",
    source: "spec 001 §4.1",
  },
  updateMetadata: {
    ...silentOnRest,
    method: "PUT",
    path: `${ofSet}/:metadataKey`,
    params: oneSet.extend(key),
    body: withoutNulls(metadataUpdate),
    success: bodiless,
    response: metadataView,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["constraintViolation", "entityNotFound", "setInvalid", "deleted", "concurrentModification", "entityChanged"],
    summary: "Change a metadata entry of a distribution set",
    source: "spec 001 §4.1",
  },
  deleteMetadata: {
    method: "DELETE",
    path: `${ofSet}/:metadataKey`,
    params: oneSet.extend(key),
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound", "setInvalid", "deleted", "concurrentModification"],
    summary: "Delete a metadata entry of a distribution set",
    source: "spec 001 §4.1",
  },
});
