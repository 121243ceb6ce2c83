import { z } from "zod";
import { queryInt } from "../paging.ts";
import { first } from "../query-text.ts";
import { ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { isStorable } from "../values.ts";
import { neededInQuery } from "./common.ts";

const plainFields = ["controllerid", "name", "group", "attribute", "metadata"] as const;

/** A field of target queries whose values can be suggested; `attribute` and `metadata` alone stand for their keys. */
export type SuggestField = (typeof plainFields)[number] | `attribute.${string}` | `metadata.${string}`;

const maxKeyLength = 128;

const isField = (name: string): name is SuggestField => {
  const [head = "", ...rest] = name.split(".");
  const key = rest.join(".");
  if (rest.length === 0) return (plainFields as readonly string[]).includes(name);
  return ["attribute", "metadata"].includes(head) && key.length >= 1 && key.length <= maxKeyLength;
};

/** The key is as it was sent; the other words are read in any case of letters. */
const fieldOf = (text: string): string => {
  const [head = "", ...key] = text.trim().split(".");
  return [head.toLowerCase(), ...key].join(".");
};

const field = shownAs(
  neededInQuery(
    z
      .string()
      .max(maxKeyLength + 20)
      .refine(isStorable, "Invalid characters in string"),
  ).transform((text, context): SuggestField => {
    const name = fieldOf(text);
    if (isField(name)) return name;
    context.addIssue({ code: "custom", message: `must be one of ${plainFields.join(", ")}, attribute.KEY and metadata.KEY` });
    return z.NEVER;
  }),
  { type: "string", example: "attribute.hw" },
);

/** No value that is suggested is longer. */
const maxPrefix = 256;
const maxLimit = 100;

const prefix = z.string().max(maxPrefix).refine(isStorable, "Invalid characters in string").default("");

/** Values that begin with a text, each once; `more` says that there are others (contract console.md §1, M13). */
export const targetSuggestionsView = z.object({ values: z.array(z.string()), more: z.boolean() }).meta({ id: "TargetSuggestions" });
export type TargetSuggestions = z.output<typeof targetSuggestionsView>;

/** Completion of values in target queries. */
export const targetSuggestions = routesOf(
  "targets",
  { service: "management", interface: "management", source: "contract console.md §1" },
  {
    suggest: {
      method: "GET",
      path: "/targets.suggest",
      query: z.object({
        field,
        prefix: z.preprocess(first, prefix),
        limit: queryInt(20, (value) => (value < 1 ? 20 : Math.min(maxLimit, value))),
      }),
      success: ok,
      response: targetSuggestionsView,
      permission: ["READ_TARGET"],
      errors: ["constraintViolation"],
      summary: "Suggest values of a field of target queries that begin with a text",
    },
  },
);
