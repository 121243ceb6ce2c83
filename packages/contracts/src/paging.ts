import { z } from "zod";
import { shownAs } from "./shown-as.ts";
import { lookedUpText } from "./values.ts";

/** Express gives an array for a repeated parameter; the first value counts. */
export const first = (value: unknown) => (Array.isArray(value) ? value[0] : value);

/** Takes the first value of a parameter, and an empty text as absent. */
export const firstUnlessEmpty = (value: unknown) => (first(value) === "" ? undefined : first(value));

/** A text in a query, which may be absent. */
export const optionalQuery = z.preprocess(first, z.string().optional());

const wholeNumber = z
  .string()
  .trim()
  .regex(/^[+-]?\d{1,10}$/, "must be a number")
  .transform(Number)
  .refine((value) => value >= -2_147_483_648 && value <= 2_147_483_647, {
    error: "must be a number of 32 bits",
    params: { unreadable: true },
  });

/** Makes a whole number in a query; an absent or empty text gives the fallback, and a text that is no number is unreadable. */
export function queryInt(fallback: number, lenient: (value: number) => number = (value) => value) {
  const schema = z
    .preprocess(firstUnlessEmpty, wholeNumber.optional())
    .transform((value) => (value === undefined ? fallback : lenient(value)));
  return shownAs(schema, { type: "integer", format: "int32", default: fallback });
}

/** A text in a query, unchanged; `""` stays, because an empty `q` is an error of its own (contract management.md §1.3). */
export const queryText = z.preprocess(first, lookedUpText.optional());

const yes = new Set(["true", "on", "yes", "1"]);
const no = new Set(["false", "off", "no", "0", ""]);

/** A flag in a query, which is false if absent; any other value than true or false is unreadable. */
export const queryFlag = shownAs(
  optionalQuery.transform((value, context) => {
    const word = (value ?? "").trim().toLowerCase();
    if (yes.has(word)) return true;
    if (!no.has(word)) context.addIssue({ code: "custom", message: "must be true or false", params: { unreadable: true } });
    return false;
  }),
  { type: "boolean", default: false },
);

/** The `offset`, `limit` and `sort` of a list are lenient, because clients rely on it (contract management.md §1.3): -5 is 0, 0 is 50, 600 is 500. */
const pageMembers = {
  offset: queryInt(0, (value) => Math.max(0, value)),
  limit: queryInt(50, (value) => (value < 1 ? 50 : Math.min(500, value))),
  sort: queryText.meta({ description: "field:DIR{,field:DIR}", example: "name:ASC" }),
};

const q = queryText.meta({ description: "FIQL query", example: "name==a*;createdat=gt=0" });

const representations = ["compact", "full"] as const;

/** Makes the choice of compact or full items; any value but the other one silently means the default (contract management.md §1.3). */
export function representationOr(fallback: (typeof representations)[number]) {
  const other = fallback === "full" ? "compact" : "full";
  const schema = optionalQuery.transform((value) => (value?.trim().toLowerCase() === other ? other : fallback));
  return shownAs(schema, { type: "string", enum: [...representations], default: fallback });
}
const representation = representationOr("compact");

const softDeletedModes = ["EXCLUDE_SOFT_DELETED", "INCLUDE_SOFT_DELETED", "ONLY_SOFT_DELETED"] as const;

/** Whether a list shows soft-deleted rows (contract management.md §11). */
export const softDeletedMode = z.preprocess((value) => {
  const word = first(value);
  return typeof word === "string" ? (word === "" ? undefined : word.toUpperCase()) : word;
}, z.enum(softDeletedModes).default("EXCLUDE_SOFT_DELETED"));

/** The paging of lists that offer no query (spec 001 §2.1). */
export const plainPageQuery = z.object(pageMembers);

/** The paging with `q` (spec 001 §2.1, PAGE). */
export const pageQuery = z.object({ ...pageMembers, q });

/** The paging with `q` and the choice of compact or full items. */
export const representedPageQuery = z.object({ ...pageMembers, q, representation });

/** The choice of compact or full items in a list that is not paged. */
export const representationQuery = z.object({ representation });

export type PageQuery = z.output<typeof pageQuery>;
export type PlainPageQuery = z.output<typeof plainPageQuery>;

/** Makes the schema of a page (spec 001 §2.1): `total` counts all matches, `size` the items on this page. It is made once per item. */
export function pageOf<T extends z.ZodType>(item: T) {
  const id = item.meta()?.id;
  return z.object({ content: z.array(item), total: z.int(), size: z.int() }).meta(id === undefined ? {} : { id: `${id}Page` });
}

/** Builds the body of a page. */
export function page<T>(content: readonly T[], total: number): { content: readonly T[]; total: number; size: number } {
  return { content, total, size: content.length };
}
