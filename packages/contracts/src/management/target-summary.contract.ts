import { z } from "zod";
import { queryInt, queryText } from "../paging.ts";
import { first } from "../query-text.ts";
import { ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { cursorListErrors } from "./common.ts";

/** What targets can be counted by, beside attributes; the names are those of queries. */
export const summaryFields = ["updatestatus", "targettype", "tag", "installedds", "assignedds", "overdue"] as const;
export type SummaryField = (typeof summaryFields)[number] | `attribute.${string}`;

/** One request counts by so many things at most: each reads the matching targets once more. */
const maxFields = 10;
const maxKeyLength = 128;

const isField = (name: string): name is SummaryField =>
  (summaryFields as readonly string[]).includes(name) ||
  (name.startsWith("attribute.") && name.length <= "attribute.".length + maxKeyLength);

/** The key of an attribute is as it was sent; the other names are read in any case of letters. */
const fieldOf = (text: string): string => {
  const name = text.trim();
  const [head = "", ...key] = name.split(".");
  return key.length === 0 ? name.toLowerCase() : `${head.toLowerCase()}.${key.join(".")}`;
};

const by = shownAs(
  z.preprocess(first, z.string({ error: "must not be null" })).transform((text, context): SummaryField[] => {
    const names = [...new Set(text.split(",").map(fieldOf))];
    if (names.length <= maxFields && names.every(isField) && !names.includes("attribute.")) return names as SummaryField[];
    const message = `must be 1 to ${maxFields} of ${summaryFields.join(", ")} and attribute.KEY, with commas between them`;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }),
  { type: "string", example: "updatestatus,attribute.hw" },
);

/** A value with the number of targets that have it. */
export const facetValue = z.object({ value: z.string(), label: z.string().optional(), count: z.int() }).meta({ id: "FacetValue" });

/** The values of one thing that targets are counted by, the most frequent first. */
export const targetFacet = z
  .object({ by: z.string(), values: z.array(facetValue), other: z.int(), without: z.int(), countedAt: z.int().optional() })
  .meta({ id: "TargetFacet" });
export type TargetFacet = z.output<typeof targetFacet>;
export const targetSummaryView = z.object({ facets: z.array(targetFacet) }).meta({ id: "TargetSummary" });

/** The counts of targets by what they have (contract console.md §1, M12). */
export const targetSummary = routesOf(
  "targets",
  { service: "management", interface: "management", source: "contract console.md" },
  {
    summary: {
      method: "GET",
      path: "/targets.summary",
      query: z.object({ q: queryText, by, top: queryInt(20, (value) => (value < 1 ? 20 : Math.min(100, value))) }),
      success: ok,
      response: targetSummaryView,
      permission: ["READ_TARGET"],
      errors: cursorListErrors.filter((code) => !["sortParamSyntax", "invalidField", "invalidDirection"].includes(code)),
      summary: "Count targets by status, type, tag, set, or an attribute",
    },
  },
);
