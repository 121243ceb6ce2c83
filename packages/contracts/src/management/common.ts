import type { ErrorCode } from "@harrier/errors";
import { z } from "zod";
import { audit } from "../link.ts";
import { softDeletedMode } from "../paging.ts";
import { missingMessage } from "../parse.ts";
import { first } from "../query-text.ts";
import { optionalText } from "../values.ts";

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

/** What distribution sets and software modules have in common. */
export const versionedMembers = {
  ...audit,
  id: z.int(),
  name: z.string(),
  description: z.string().optional(),
  version: z.string(),
  type: z.string(),
  typeName: z.string(),
};

/** The remark of a decision, which may come in the query or in the body. */
export const remarkQuery = z.object({ remark: z.preprocess(first, optionalText(255)) });

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
