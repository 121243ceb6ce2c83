import { z } from "zod";
import { uncursoredPageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, lookedUpText, withoutNulls } from "../values.ts";
import { listErrors } from "./common.ts";
import { metadataCreate, metadataPage, metadataUpdate, metadataView } from "./metadata.contract.ts";

const common = { service: "management", interface: "management", source: "spec 001 §4.2" } as const;
const path = "/targets/:targetId/metadata";
const owner = z.object({ targetId: lookedUpText });
const entry = { path: `${path}/:metadataKey`, params: owner.extend({ metadataKey: lookedUpText }) } as const;
/** On hawkBit 1.x the answer does not contain what was stored, and the permissions of targets are needed (contract clients.md, "Two dialects"). */
const written = { responseRest: null, permissionRest: [["UPDATE_TARGET"]] } as const;
const read = { permission: ["READ_REPOSITORY"], permissionRest: [["READ_TARGET"]] } as const;

/** The operations on metadata of targets, which devices do not see (spec 001 §4.2). */
export const targetMetadata = routesOf("targets", common, {
  listMetadata: {
    ...read,
    method: "GET",
    path,
    params: owner,
    query: uncursoredPageQuery,
    success: ok,
    response: metadataPage,
    errors: [...listErrors, "entityNotFound"],
    summary: "List the metadata of a target",
  },
  createMetadata: {
    ...written,
    method: "POST",
    path,
    params: owner,
    body: arrayBody(metadataCreate),
    success: created,
    response: z.array(metadataView),
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "quotaTooManyEntries"],
    summary: "Add metadata to a target, all or none",
  },
  getMetadata: {
    ...read,
    ...entry,
    method: "GET",
    success: ok,
    response: metadataView,
    errors: ["entityNotFound"],
    summary: "Get a metadata entry of a target",
  },
  updateMetadata: {
    ...written,
    ...entry,
    method: "PUT",
    body: withoutNulls(metadataUpdate),
    success: bodiless,
    response: metadataView,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["constraintViolation", "entityNotFound", "entityChanged"],
    summary: "Change a metadata entry of a target",
  },
  deleteMetadata: {
    ...entry,
    method: "DELETE",
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    permissionRest: [["UPDATE_TARGET"]],
    errors: ["entityNotFound"],
    summary: "Delete a metadata entry of a target",
  },
});
