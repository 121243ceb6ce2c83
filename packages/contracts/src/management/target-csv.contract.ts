import { z } from "zod";
import { ok, route } from "../route.ts";
import { listErrors } from "./common.ts";

/** Columns that make a target, named as its members; of these only `controllerId` is required. */
export const targetCsvInput = ["controllerId", "name", "description", "address", "securityToken", "targetType"] as const;
/** Columns that tell of a target and are passed over where they come in; times in epoch milliseconds. */
export const targetCsvOutput = [
  "targetTypeName",
  "updateStatus",
  "lastControllerRequestAt",
  "installedAt",
  "createdBy",
  "createdAt",
  "lastModifiedBy",
  "lastModifiedAt",
] as const;

/** What came of an import; of the errors the first hundred. */
export const targetImportView = z
  .object({
    created: z.int(),
    failed: z.int(),
    errors: z.array(z.object({ line: z.int(), controllerId: z.string().optional(), errorCode: z.string(), message: z.string() })),
  })
  .meta({ id: "TargetImport" });
export type TargetImportView = z.output<typeof targetImportView>;

const common = { service: "management", interface: "management", path: "/targets.csv", source: "contract extensions.md" } as const;

/** Targets as CSV (RFC 4180, UTF-8, first line: names of columns), in and out, of any number. */
export const targetCsv = {
  exportCsv: route({
    ...common,
    id: "targets.exportCsv",
    method: "GET",
    query: z.object({ q: z.string().optional() }),
    success: ok,
    responseType: "text/csv",
    permission: ["READ_TARGET"],
    errors: listErrors,
    summary: "Get targets as CSV, by controllerId",
  }),
  importCsv: route({
    ...common,
    id: "targets.importCsv",
    method: "POST",
    query: z.object({ onError: z.enum(["abort", "skip"]).default("abort") }),
    body: z.string(),
    bodyKind: "csv",
    success: ok,
    response: targetImportView,
    permission: ["CREATE_TARGET"],
    errors: ["constraintViolation", "quotaTooManyEntries", "payloadTooLarge", "unsupportedMediaType"],
    summary: "Create targets from CSV: all or none, or those that can be created",
  }),
};
