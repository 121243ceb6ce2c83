import { z } from "zod";
import { queryInt } from "../paging.ts";
import { first } from "../query-text.ts";
import { ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { isStorable } from "../values.ts";
import { neededInQuery } from "./common.ts";

const entity = { id: z.int(), name: z.string() };
const versioned = z.object({ ...entity, version: z.string() }).meta({ id: "FoundVersion" });
const named = z.object(entity).meta({ id: "FoundEntity" });

/** What begins with a text, by kind; a kind that the caller may not read is absent (contract console.md §3). */
export const searchView = z
  .object({
    targets: z.array(z.object({ controllerId: z.string(), name: z.string() }).meta({ id: "FoundTarget" })).optional(),
    distributionSets: z.array(versioned).optional(),
    softwareModules: z.array(versioned).optional(),
    rollouts: z.array(named).optional(),
    targetFilters: z.array(named).optional(),
    targetTags: z.array(named).optional(),
    distributionSetTags: z.array(named).optional(),
  })
  .meta({ id: "SearchResult" });
export type SearchView = z.output<typeof searchView>;

/** Names and ids have at most so many characters, so a longer text begins none of them. */
const maxText = 256;
const maxLimit = 20;

const text = neededInQuery(z.string().trim().min(1).max(maxText).refine(isStorable, "Invalid characters in string"));

/** Search over the entities of the tenant. */
export const search = routesOf(
  "search",
  { service: "management", interface: "management", source: "contract console.md §3" },
  {
    find: {
      method: "GET",
      path: "/search",
      query: z.object({
        text: shownAs(z.preprocess(first, text), { type: "string", minLength: 1, maxLength: maxText }),
        limit: queryInt(5, (value) => (value < 1 ? 5 : Math.min(maxLimit, value))),
      }),
      success: ok,
      response: searchView,
      permission: [],
      errors: ["constraintViolation"],
      summary: "Find entities whose name begins with a text",
    },
  },
);
