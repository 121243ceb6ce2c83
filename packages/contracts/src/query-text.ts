import { z } from "zod";

/** Express gives an array for a repeated parameter; the first value counts. */
export const first = (value: unknown) => (Array.isArray(value) ? value[0] : value);

/** Takes the first value of a parameter, and an empty text as absent. */
export const firstUnlessEmpty = (value: unknown) => (first(value) === "" ? undefined : first(value));

/** A text in a query, which may be absent. */
export const optionalQuery = z.preprocess(first, z.string().optional());
