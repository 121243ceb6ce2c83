import { z } from "zod";
import { firstUnlessEmpty, optionalQuery } from "./query-text.ts";
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

/** How a list is counted, and where its page begins. */
export const cursorMembers = { total, after };

/** What a page says about the list beside its items. */
export interface PageMembers {
  total?: number;
  totalRelation?: "eq" | "gte";
  next?: string;
}
