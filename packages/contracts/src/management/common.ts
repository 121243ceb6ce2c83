import type { ErrorCode } from "@harrier/errors";
import { z } from "zod";
import { first, softDeletedMode } from "../paging.ts";
import { missingMessage } from "../parse.ts";

/** The errors of every list with `sort` and `q`. */
export const listErrors: readonly ErrorCode[] = [
  "sortParamSyntax",
  "invalidField",
  "invalidDirection",
  "rsqlParamSyntax",
  "rsqlInvalidField",
];

/** The errors of a list that can be walked by a cursor. */
export const cursorListErrors: readonly ErrorCode[] = [...listErrors, "constraintViolation"];

/** The errors of a list that has `sort` but no `q`. */
export const plainListErrors: readonly ErrorCode[] = ["sortParamSyntax", "invalidField", "invalidDirection"];

/** Makes a required query parameter: without it a change would apply to everything. */
export const neededInQuery = (schema: z.ZodType<string>) =>
  z
    .unknown()
    .transform(first)
    .refine((value) => value !== undefined, { error: missingMessage, abort: true })
    .pipe(schema);

/** Adds the choice whether soft-deleted rows are listed (contract management.md §11). */
export function withDeletedModes<T extends z.ZodRawShape>(query: z.ZodObject<T>) {
  return query.extend({ soft_deleted_mode: softDeletedMode });
}
