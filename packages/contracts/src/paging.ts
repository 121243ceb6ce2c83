import { z } from "zod";
import { cursorMembers, type PageMembers } from "./cursor.ts";
import { first, firstUnlessEmpty, optionalQuery } from "./query-text.ts";
import { shownAs } from "./shown-as.ts";
import { lookedUpText } from "./values.ts";

/** The whole numbers of 32 bits, and those of 64 bits that JSON can hold. */
const sizes = {
  int32: { digits: /^[+-]?\d{1,10}$/, min: -2_147_483_648, max: 2_147_483_647, message: "must be a number of 32 bits" },
  int64: { digits: /^[+-]?\d{1,16}$/, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, message: "must be a number below 2^53" },
} as const;

function queryNumber(format: keyof typeof sizes, fallback: number, lenient: (value: number) => number) {
  const { digits, min, max, message } = sizes[format];
  const wholeNumber = z
    .string()
    .trim()
    .regex(digits, "must be a number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: message, params: { unreadable: true } });
  const schema = z
    .preprocess(firstUnlessEmpty, wholeNumber.optional())
    .transform((value) => (value === undefined ? fallback : lenient(value)));
  return shownAs(schema, { type: "integer", format, default: fallback });
}

/** Makes a whole number in a query; an absent or empty text gives the fallback, and a text that is no number is unreadable. */
export function queryInt(fallback: number, lenient: (value: number) => number = (value) => value) {
  return queryNumber("int32", fallback, lenient);
}

/** Makes a number of bytes in a query, which may be beyond 32 bits; otherwise as `queryInt`. */
export function queryBytes(fallback: number, lenient: (value: number) => number = (value) => value) {
  return queryNumber("int64", fallback, lenient);
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
  ...cursorMembers,
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

/** The paging of lists whose values may be too long for a cursor; they are short by their quota. */
export const uncursoredPageQuery = pageQuery.omit({ after: true });
export type UncursoredPageQuery = z.output<typeof uncursoredPageQuery>;

/** The paging with `q` and the choice of compact or full items. */
export const representedPageQuery = z.object({ ...pageMembers, q, representation });

/** The choice of compact or full items in a list that is not paged. */
export const representationQuery = z.object({ representation });

export type PageQuery = z.output<typeof pageQuery>;
export type PlainPageQuery = z.output<typeof plainPageQuery>;

/**
 * Makes the schema of a page (spec 001 §2.1): `size` counts the items on this page, `total` all matches, and is absent with `total=none`;
 * `totalRelation` is there with `total=atMost:N` alone, and is `gte` if there are more than `total`; `next` is there if the request has `total` or
 * `after` and there are more items. It is made once per item.
 */
export function pageOf<T extends z.ZodType>(item: T) {
  const id = item.meta()?.id;
  return z
    .object({
      content: z.array(item),
      total: z.int().optional(),
      totalRelation: z.enum(["eq", "gte"]).optional(),
      next: z.string().optional(),
      size: z.int(),
    })
    .meta(id === undefined ? {} : { id: `${id}Page` });
}

/** Builds the body of a page. */
export function page<T>(content: readonly T[], { total, totalRelation, next }: PageMembers) {
  return {
    content,
    ...(total === undefined ? {} : { total }),
    ...(totalRelation === undefined ? {} : { totalRelation }),
    ...(next === undefined ? {} : { next }),
    size: content.length,
  };
}
