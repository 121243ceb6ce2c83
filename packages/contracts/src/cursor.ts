import { z } from "zod";
import { firstUnlessEmpty, optionalQuery, pageQuery, representedPageQuery } from "./paging.ts";
import { shownAs } from "./shown-as.ts";

/** How the matches of a list are counted: all, none, or no further than a number (contract console.md §1, M02). */
export type TotalMode = "exact" | "none" | { readonly atMost: number };

/** Nobody needs to count further without an exact number; a count of so many takes no longer than a page of a deep offset. */
const maxAtMost = 1_000_000;

/** An absent or empty text gives undefined, which counts as `exact`; any other text that is no mode is unreadable. */
const total = shownAs(
  optionalQuery.transform((value, context): TotalMode | undefined => {
    const word = (value ?? "").trim();
    if (word === "") return undefined;
    if (word === "exact" || word === "none") return word;
    const atMost = Number(/^atMost:(\d{1,7})$/.exec(word)?.[1]);
    if (atMost >= 1 && atMost <= maxAtMost) return { atMost };
    const message = `must be exact, none, or atMost: and a number from 1 to ${maxAtMost}`;
    context.addIssue({ code: "custom", message, params: { unreadable: true } });
    return undefined;
  }),
  { type: "string", pattern: "^(exact|none|atMost:[0-9]{1,7})$", default: "exact" },
);

/** The `next` of the page before, unchanged; a text that is no cursor violates a constraint. */
const after = shownAs(
  z
    .preprocess(firstUnlessEmpty, z.string().optional())
    .refine((text) => text === undefined || /^[A-Za-z0-9_-]{1,12000}$/.test(text), "must be the next of a page"),
  { type: "string" },
);

const members = { total, after };

/** The paging with `q` of lists that can be walked by a cursor, and whose total can be left out. */
export const cursorPageQuery = pageQuery.extend(members);
export type CursorPageQuery = z.output<typeof cursorPageQuery>;

/** The same with the choice of compact or full items. */
export const representedCursorPageQuery = representedPageQuery.extend(members);

/**
 * Makes the schema of a page that may have a cursor: `total` is absent with `total=none`; `totalRelation` is there with `total=atMost:N` alone, and is
 * `gte` if there are more than `total`; `next` is there if the request has `total` or `after` and there are more items.
 */
export function cursorPageOf<T extends z.ZodType>(item: T) {
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

/** What a page says about the list beside its items. */
export interface CursorPageMembers {
  total?: number;
  totalRelation?: "eq" | "gte";
  next?: string;
}

/** Builds the body of a page that may have a cursor. */
export function cursorPage<T>(content: readonly T[], { total: counted, totalRelation, next }: CursorPageMembers) {
  return {
    content,
    ...(counted === undefined ? {} : { total: counted }),
    ...(totalRelation === undefined ? {} : { totalRelation }),
    ...(next === undefined ? {} : { next }),
    size: content.length,
  };
}
