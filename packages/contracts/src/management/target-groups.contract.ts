import { z } from "zod";
import { pageQuery, queryFlag, queryInt, queryText } from "../paging.ts";
import { bodiless, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { arrayBody, lookedUpText, optionalDescription, requiredName } from "../values.ts";
import { cursorListErrors, listErrors, neededInQuery } from "./common.ts";
import { targetPage } from "./target-view.ts";

/** A group's name, with all its parts and the slashes between them, has at most so many characters. */
const maxGroupLength = 256;

/** The group of one target when it is created or changed; an empty text stands for no group. */
export const groupMember = optionalDescription(maxGroupLength);

/** An answer lists at most so many names, because there may be as many groups as targets. */
export const maxGroups = 10_000;

const name = { type: "string", minLength: 1, maxLength: maxGroupLength, example: "Europe/East" };
/** A group that targets are put into. */
const newGroup = shownAs(requiredName(maxGroupLength), name);
const newGroupInQuery = shownAs(neededInQuery(requiredName(maxGroupLength)), name);
/** A group to search for, which need not exist. */
const group = shownAs(neededInQuery(lookedUpText.min(1)), name);
const q = shownAs(neededInQuery(lookedUpText), { type: "string", minLength: 1, description: "FIQL query", example: "name==a*" });

/** A limit that is too large is no error, because clients ask for what they can hold. */
const limit = queryInt(maxGroups, (value) => (value < 1 ? maxGroups : Math.min(maxGroups, value)));
const after = queryText.meta({ description: "Only groups behind this one, in the order of the answer" });

const controllerIds = arrayBody(lookedUpText);
const path = "/targetgroups";
const one = z.object({ group: newGroup });

const common = { service: "management", interface: "management", source: "contract management.md §11" } as const;
const read = { ...common, permission: ["READ_TARGET"] } as const;
const write = { ...common, success: bodiless, permission: ["UPDATE_TARGET"] } as const;
const byQueryErrors = [...listErrors, "constraintViolation", "quotaTooManyEntries"] as const;

/**
 * Groups of targets: a target is in one at most, and a group exists while a target is in it. A name may have parts separated by `/`; the option
 * `subgroups` includes the groups below a group. A group in the path has one part, a group in a parameter may have several. Literal paths come
 * before those with a group in them.
 */
export const targetGroups = routesOf(
  "targetGroups",
  {},
  {
    list: {
      ...read,
      method: "GET",
      path,
      query: z.object({ limit, after }),
      success: ok,
      response: z.array(z.string()).meta({ id: "TargetGroups" }),
      errors: [],
      summary: "List the groups that targets are in, by name; where there are more, a Link header names the next page",
    },
    listTargets: {
      ...read,
      method: "GET",
      path: `${path}/assigned`,
      query: pageQuery.extend({ group, subgroups: queryFlag }),
      success: ok,
      response: targetPage,
      errors: [...listErrors, "constraintViolation"],
      summary: "List the targets of a group and, with subgroups, of those below it",
    },
    listTargetsOf: {
      ...read,
      method: "GET",
      path: `${path}/:group/assigned`,
      params: z.object({ group: lookedUpText }),
      query: pageQuery,
      success: ok,
      response: targetPage,
      errors: cursorListErrors,
      summary: "List the targets of a group without subgroups",
    },
    assign: {
      ...write,
      method: "PUT",
      path: `${path}/assigned`,
      query: z.object({ group: newGroupInQuery }),
      body: controllerIds,
      errors: ["constraintViolation"],
      summary: "Put targets into a group; ids that do not exist are passed over",
    },
    assignByQuery: {
      ...write,
      method: "PUT",
      path,
      query: z.object({ group: newGroupInQuery, q }),
      errors: byQueryErrors,
      summary: "Put the targets that a query means into a group, all or, where they are more than 20,000, none",
    },
    assignTo: {
      ...write,
      method: "PUT",
      path: `${path}/:group/assigned`,
      params: one,
      body: controllerIds,
      errors: ["constraintViolation"],
      summary: "Put targets into a group without subgroups; ids that do not exist are passed over",
    },
    assignToByQuery: {
      ...write,
      method: "PUT",
      path: `${path}/:group`,
      params: one,
      query: z.object({ q }),
      errors: byQueryErrors,
      summary: "Put the targets that a query means into a group without subgroups, all or, where they are more than 20,000, none",
    },
    unassign: {
      ...write,
      method: "DELETE",
      path: `${path}/assigned`,
      body: controllerIds,
      errors: ["constraintViolation"],
      summary: "Take targets out of their groups; ids that do not exist are passed over",
    },
    unassignByQuery: {
      ...write,
      method: "DELETE",
      path,
      query: z.object({ q }),
      errors: byQueryErrors,
      summary: "Take the targets that a query means out of their groups, all or, where they are more than 20,000, none",
    },
  },
);
