import { z } from "zod";
import { links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { first } from "../query-text.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { arrayBody, lookedUpText, pathId, withoutNulls } from "../values.ts";
import { cursorListErrors, listErrors } from "./common.ts";
import { tagCreate, tagMembers, tagUpdate } from "./tags.ts";
import { targetPage, targetView } from "./target-view.ts";

export const targetTagView = z.object({ ...tagMembers, _links: links("self", "assignedTargets") }).meta({ id: "TargetTag" });
export type TargetTagView = z.output<typeof targetTagView>;

const policies = ["FAIL", "ON_WHAT_FOUND_AND_FAIL", "ON_WHAT_FOUND_AND_SUCCESS"] as const;
export type OnNotFoundPolicy = (typeof policies)[number];

/** What happens to a request that names targets which do not exist (contract management.md §4.8); any other value is unreadable. */
const onNotFoundPolicy = shownAs(
  z.preprocess(
    (value) => first(value) ?? "FAIL",
    z.enum(policies, { error: () => ({ message: `must be one of ${policies.join(", ")}` }) }),
  ),
  { type: "string", enum: [...policies], default: "FAIL" },
);

const manyTargets = { query: z.object({ onNotFoundPolicy }), body: arrayBody(lookedUpText) };

const targetTag = z.object({ targetTagId: pathId });
const oneTarget = targetTag.extend({ controllerId: lookedUpText });
const targetTagPath = "/targettags/:targetTagId";
const taggedTargets = `${targetTagPath}/assigned`;

const common = { service: "management", interface: "management", source: "spec 001 §4.5" } as const;

/** The operations on target tags (spec 001 §4.5). */
export const targetTags = routesOf("targetTags", common, {
  list: {
    method: "GET",
    path: "/targettags",
    query: pageQuery,
    success: ok,
    response: pageOf(targetTagView),
    permission: ["READ_TARGET"],
    errors: listErrors,
    summary: "List target tags",
  },
  create: {
    method: "POST",
    path: "/targettags",
    body: arrayBody(tagCreate),
    success: created,
    response: z.array(targetTagView),
    permission: ["CREATE_TARGET"],
    errors: ["constraintViolation", "entityAlreadyExists"],
    summary: "Create target tags, all or none",
  },
  get: {
    method: "GET",
    path: targetTagPath,
    params: targetTag,
    success: ok,
    response: targetTagView,
    permission: ["READ_TARGET"],
    errors: ["entityNotFound"],
    summary: "Get a target tag",
  },
  update: {
    method: "PUT",
    path: targetTagPath,
    params: targetTag,
    body: withoutNulls(tagUpdate),
    success: ok,
    response: targetTagView,
    permission: ["UPDATE_TARGET"],
    errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "concurrentModification", "entityChanged"],
    summary: "Change a target tag",
  },
  delete: {
    method: "DELETE",
    path: targetTagPath,
    params: targetTag,
    success: bodiless,
    permission: ["DELETE_TARGET"],
    errors: ["entityNotFound", "entityChanged"],
    summary: "Delete a target tag; its targets stay",
  },
  listAssigned: {
    method: "GET",
    path: taggedTargets,
    params: targetTag,
    query: pageQuery,
    success: ok,
    response: targetPage,
    permission: ["READ_TARGET"],
    errors: ["entityNotFound", ...cursorListErrors],
    summary: "List the targets that have a tag",
  },
  assign: {
    method: "POST",
    path: taggedTargets,
    params: targetTag,
    ...manyTargets,
    success: bodiless,
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "Give a tag to many targets",
  },
  assignByPut: {
    method: "PUT",
    path: taggedTargets,
    params: targetTag,
    ...manyTargets,
    success: bodiless,
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "Give a tag to many targets, as clients of older versions ask (contract management.md D4)",
  },
  unassign: {
    method: "DELETE",
    path: taggedTargets,
    params: targetTag,
    ...manyTargets,
    success: bodiless,
    permission: ["UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "Take a tag from many targets",
  },
  toggle: {
    method: "POST",
    path: `${taggedTargets}/toggleTagAssignment`,
    params: targetTag,
    body: arrayBody(z.object({ controllerId: lookedUpText }).meta({ id: "TargetToToggle" })),
    success: ok,
    response: z.object({ assignedTargets: z.array(targetView), unassignedTargets: z.array(targetView) }).meta({ id: "TargetTagToggle" }),
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "Take a tag from targets that all have it, or give it to those that have not, as old clients ask",
    source: "contract management.md §4.12",
  },
  assignOne: {
    method: "POST",
    path: `${taggedTargets}/:controllerId`,
    params: oneTarget,
    success: bodiless,
    permission: ["READ_REPOSITORY", "UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "Give a tag to a target",
  },
  unassignOne: {
    method: "DELETE",
    path: `${taggedTargets}/:controllerId`,
    params: oneTarget,
    success: bodiless,
    permission: ["UPDATE_TARGET"],
    errors: ["entityNotFound"],
    summary: "Take a tag from a target",
  },
});

/** The tags of one target (spec 001 §4.2). */
export const tagsOfTarget = routesOf("targets", common, {
  tags: {
    method: "GET",
    path: "/targets/:targetId/tags",
    params: z.object({ targetId: lookedUpText }),
    success: ok,
    response: z.array(targetTagView),
    permission: ["READ_REPOSITORY"],
    errors: ["entityNotFound"],
    summary: "List the tags of a target",
    source: "spec 001 §4.2",
  },
});
