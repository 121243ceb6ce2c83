import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { bodiless, created, ok, route, routesOf } from "../route.ts";
import { arrayBody, arrayOf, idReference, pathId, withoutNulls } from "../values.ts";
import { listErrors, withDeletedModes } from "./common.ts";
import { softwareModuleTypeView } from "./software-module-types.contract.ts";
import { typeCreateMembers, typeMembers, typeUpdateBody } from "./type-members.ts";

/** A distribution set type (spec 001 §2.7); only single answers have the links to its module types. */
export const distributionSetTypeView = z
  .object({ ...typeMembers, _links: links("self", "mandatorymodules", "optionalmodules") })
  .meta({ id: "DistributionSetType" });
export type DistributionSetTypeView = z.output<typeof distributionSetTypeView>;

/** The creation of a distribution set type; a module type in both lists becomes optional (contract management.md §4.5). */
export const distributionSetTypeCreate = z
  .object({ ...typeCreateMembers, mandatorymodules: arrayOf(idReference).optional(), optionalmodules: arrayOf(idReference).optional() })
  .meta({ id: "DistributionSetTypeCreate" });
export type DistributionSetTypeCreate = z.output<typeof distributionSetTypeCreate>;

const one = z.object({ distributionSetTypeId: pathId });
const oneModuleType = one.extend({ softwareModuleTypeId: pathId });
const base = "/distributionsettypes";
const path = `${base}/:distributionSetTypeId`;

/** The operations on distribution set types (spec 001 §4.4). */
export const distributionSetTypes = routesOf(
  "distributionSetTypes",
  { service: "management", interface: "management" },
  {
    list: {
      method: "GET",
      path: base,
      query: withDeletedModes(pageQuery),
      success: ok,
      response: pageOf(distributionSetTypeView),
      permission: ["READ_REPOSITORY"],
      errors: listErrors,
      summary: "List distribution set types",
      source: "spec 001 §4.4",
    },
    create: {
      method: "POST",
      path: base,
      body: arrayBody(distributionSetTypeCreate),
      success: created,
      response: z.array(distributionSetTypeView),
      permission: ["CREATE_REPOSITORY"],
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "quotaTooManyEntries", "concurrentModification"],
      summary: "Create distribution set types, all or none",
      source: "spec 001 §4.4",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: distributionSetTypeView,
      permission: ["READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "Get a distribution set type",
      source: "spec 001 §4.4",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: typeUpdateBody,
      success: ok,
      response: distributionSetTypeView,
      permission: ["UPDATE_REPOSITORY"],
      errors: ["constraintViolation", "entityNotFound", "concurrentModification", "entityChanged"],
      summary: "Change description or colour of a distribution set type",
      source: "spec 001 §4.4",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["DELETE_REPOSITORY"],
      errors: ["entityNotFound", "entityAlreadyExists", "concurrentModification", "entityChanged"],
      summary: "Delete a distribution set type; it stays readable while a set is of it, and the tenant's default type stays",
      source: "spec 001 §4.4",
    },
    ...moduleTypesOf("Mandatory", "mandatorymoduletypes"),
    ...moduleTypesOf("Optional", "optionalmoduletypes"),
  },
);

/** Makes the four operations on one of the two lists of module types; only the requirements of a removal differ (spec 001 §4.4). */
function moduleTypesOf<K extends "Mandatory" | "Optional">(kind: K, segment: string) {
  const word = kind.toLowerCase();
  const listPath = `${path}/${segment}`;
  const common = { service: "management", interface: "management", source: "spec 001 §4.4" } as const;
  const list = route({
    ...common,
    id: `distributionSetTypes.list${kind}`,
    method: "GET",
    path: listPath,
    params: one,
    success: ok,
    response: z.array(softwareModuleTypeView),
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: `List the ${word} software module types of a distribution set type`,
  });
  const add = route({
    ...common,
    id: `distributionSetTypes.add${kind}`,
    method: "POST",
    path: listPath,
    params: one,
    body: withoutNulls(idReference),
    success: bodiless,
    permission: ["UPDATE_REPOSITORY", "READ_REPOSITORY"],
    errors: ["entityNotFound", "entityReadOnly", "constraintViolation", "quotaTooManyEntries", "concurrentModification"],
    summary: `Make a software module type a ${word} one of a distribution set type that no set is of`,
  });
  const get = route({
    ...common,
    id: `distributionSetTypes.get${kind}`,
    method: "GET",
    path: `${listPath}/:softwareModuleTypeId`,
    params: oneModuleType,
    success: ok,
    response: softwareModuleTypeView,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: `Get a ${word} software module type of a distribution set type`,
  });
  const remove = route({
    ...common,
    id: `distributionSetTypes.remove${kind}`,
    method: "DELETE",
    path: `${listPath}/:softwareModuleTypeId`,
    params: oneModuleType,
    success: bodiless,
    permission: kind === "Mandatory" ? ["DELETE_REPOSITORY"] : ["UPDATE_REPOSITORY", "READ_REPOSITORY"],
    permissionRest: [["UPDATE_REPOSITORY"]],
    errors: ["entityNotFound", "entityReadOnly", "concurrentModification"],
    summary: "Remove a software module type from a distribution set type, whichever list it is in",
  });
  return { [`list${kind}`]: list, [`add${kind}`]: add, [`get${kind}`]: get, [`remove${kind}`]: remove } as {
    [P in `list${K}`]: typeof list;
  } & { [P in `add${K}`]: typeof add } & { [P in `get${K}`]: typeof get } & { [P in `remove${K}`]: typeof remove };
}
