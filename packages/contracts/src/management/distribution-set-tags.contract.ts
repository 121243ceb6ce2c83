import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, bodyId, idReference, pathId, withoutNulls } from "../values.ts";
import { listErrors } from "./common.ts";
import { distributionSetPage, distributionSetView } from "./distribution-sets.contract.ts";
import { tagCreate, tagMembers, tagUpdate } from "./tags.ts";

export const distributionSetTagView = z
  .object({ ...tagMembers, _links: links("self", "assignedDistributionSets") })
  .meta({ id: "DistributionSetTag" });
export type DistributionSetTagView = z.output<typeof distributionSetTagView>;

const common = { service: "management", interface: "management", source: "spec 001 §4.5" } as const;
const setTag = z.object({ distributionsetTagId: pathId });
const oneSet = setTag.extend({ distributionsetId: pathId });
const setTagPath = "/distributionsettags/:distributionsetTagId";
const taggedSets = `${setTagPath}/assigned`;

/** The operations on distribution set tags (spec 001 §4.5): like those on target tags, but unknown sets always fail (contract management.md §4.9). */
export const distributionSetTags = routesOf("distributionSetTags", common, {
  list: {
    method: "GET",
    path: "/distributionsettags",
    query: pageQuery,
    success: ok,
    response: pageOf(distributionSetTagView),
    permission: ["READ_REPOSITORY"],
    errors: listErrors,
    summary: "List distribution set tags",
  },
  create: {
    method: "POST",
    path: "/distributionsettags",
    body: arrayBody(tagCreate),
    success: created,
    response: z.array(distributionSetTagView),
    permission: ["CREATE_REPOSITORY"],
    errors: ["constraintViolation", "entityAlreadyExists"],
    summary: "Create distribution set tags, all or none",
  },
  get: {
    method: "GET",
    path: setTagPath,
    params: setTag,
    success: ok,
    response: distributionSetTagView,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Get a distribution set tag",
  },
  update: {
    method: "PUT",
    path: setTagPath,
    params: setTag,
    body: withoutNulls(tagUpdate),
    success: ok,
    response: distributionSetTagView,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "concurrentModification", "entityChanged"],
    summary: "Change a distribution set tag",
  },
  delete: {
    method: "DELETE",
    path: setTagPath,
    params: setTag,
    success: bodiless,
    permission: ["DELETE_REPOSITORY"],
    errors: ["entityNotFound", "entityChanged"],
    summary: "Delete a distribution set tag; its sets stay",
  },
  listAssigned: {
    method: "GET",
    path: taggedSets,
    params: setTag,
    query: pageQuery,
    success: ok,
    response: distributionSetPage,
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound", ...listErrors],
    summary: "List the distribution sets that have a tag",
  },
  assign: {
    method: "POST",
    path: taggedSets,
    params: setTag,
    body: arrayBody(bodyId),
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Give a tag to many distribution sets, all or none",
  },
  assignByPut: {
    method: "PUT",
    path: taggedSets,
    params: setTag,
    body: arrayBody(bodyId),
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Give a tag to many distribution sets, as clients of older versions ask (contract management.md D4)",
  },
  unassign: {
    method: "DELETE",
    path: taggedSets,
    params: setTag,
    body: arrayBody(bodyId),
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Take a tag from many distribution sets, all or none",
  },
  toggle: {
    method: "POST",
    path: `${taggedSets}/toggleTagAssignment`,
    params: setTag,
    body: arrayBody(idReference),
    success: ok,
    response: z
      .object({ assignedDistributionSets: z.array(distributionSetView), unassignedDistributionSets: z.array(distributionSetView) })
      .meta({ id: "DistributionSetTagToggle" }),
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Take a tag from sets that all have it, or give it to those that have not, as old clients ask",
    source: "contract management.md §4.12",
  },
  assignOne: {
    method: "POST",
    path: `${taggedSets}/:distributionsetId`,
    params: oneSet,
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Give a tag to a distribution set",
  },
  unassignOne: {
    method: "DELETE",
    path: `${taggedSets}/:distributionsetId`,
    params: oneSet,
    success: bodiless,
    permission: ["UPDATE_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "Take a tag from a distribution set",
  },
});

/** The tags of one distribution set (ADR 54), as `targets.tags` are those of a target. */
export const tagsOfSet = routesOf("distributionSets", common, {
  tags: {
    method: "GET",
    path: "/distributionsets/:distributionSetId/tags",
    params: z.object({ distributionSetId: pathId }),
    success: ok,
    response: z.array(distributionSetTagView),
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "List the tags of a distribution set",
    source: "contract management.md §4.9",
  },
});
