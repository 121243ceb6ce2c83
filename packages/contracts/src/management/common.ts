import type { ErrorCode } from "@harrier/errors";
import type { z } from "zod";
import { softDeletedMode } from "../paging.ts";

/** Errors of every list with `sort` and `q`. */
export const listErrors: readonly ErrorCode[] = [
  "sortParamSyntax",
  "invalidField",
  "invalidDirection",
  "rsqlParamSyntax",
  "rsqlInvalidField",
];

/** Errors of a list that has `sort` but no `q`. */
export const plainListErrors: readonly ErrorCode[] = ["sortParamSyntax", "invalidField", "invalidDirection"];

/** Adds the choice whether soft-deleted rows are listed (contract management.md §11). */
export function withDeletedModes<T extends z.ZodRawShape>(query: z.ZodObject<T>) {
  return query.extend({ soft_deleted_mode: softDeletedMode });
}
