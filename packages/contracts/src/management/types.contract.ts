import { z } from "zod";
import { audit, links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { ok, route } from "../route.ts";
import { pathId } from "../values.ts";
import { listErrors, withDeletedModes } from "./common.ts";

const typeMembers = {
  ...audit,
  id: z.int(),
  key: z.string(),
  name: z.string(),
  description: z.string().optional(),
  colour: z.string().optional(),
  deleted: z.boolean(),
};

/** Software module type (spec 001 §2.7). */
export const softwareModuleTypeView = z
  .object({ ...typeMembers, maxAssignments: z.int(), _links: links("self") })
  .meta({ id: "SoftwareModuleType" });

/** Distribution set type (spec 001 §2.7); the links to its module types come with single answers only. */
export const distributionSetTypeView = z
  .object({ ...typeMembers, _links: links("self", "mandatorymodules", "optionalmodules") })
  .meta({ id: "DistributionSetType" });

export type SoftwareModuleTypeView = z.output<typeof softwareModuleTypeView>;
export type DistributionSetTypeView = z.output<typeof distributionSetTypeView>;

const listQuery = withDeletedModes(pageQuery);

/** spec 001 §4.4, software module types. */
export const softwareModuleTypes = {
  list: route({
    id: "softwareModuleTypes.list",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/softwaremoduletypes",
    query: listQuery,
    success: ok,
    response: pageOf(softwareModuleTypeView),
    permission: ["READ_REPOSITORY"],
    errors: listErrors,
    summary: "List software module types",
    source: "spec 001 §4.4",
  }),
  get: route({
    id: "softwareModuleTypes.get",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/softwaremoduletypes/:softwareModuleTypeId",
    params: z.object({ softwareModuleTypeId: pathId }),
    success: ok,
    response: softwareModuleTypeView,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Get a software module type",
    source: "spec 001 §4.4",
  }),
};

/** spec 001 §4.4, distribution set types. */
export const distributionSetTypes = {
  list: route({
    id: "distributionSetTypes.list",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/distributionsettypes",
    query: listQuery,
    success: ok,
    response: pageOf(distributionSetTypeView),
    permission: ["READ_REPOSITORY"],
    errors: listErrors,
    summary: "List distribution set types",
    source: "spec 001 §4.4",
  }),
  get: route({
    id: "distributionSetTypes.get",
    service: "management",
    interface: "management",
    method: "GET",
    path: "/distributionsettypes/:distributionSetTypeId",
    params: z.object({ distributionSetTypeId: pathId }),
    success: ok,
    response: distributionSetTypeView,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Get a distribution set type",
    source: "spec 001 §4.4",
  }),
};
