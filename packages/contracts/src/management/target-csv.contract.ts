import { z } from "zod";
import { ok, routesOf } from "../route.ts";
import { listErrors } from "./common.ts";

/** An import reads these columns, named like the members of a target; only `controllerId` is required. */
export const targetCsvInput = ["controllerId", "name", "description", "address", "securityToken", "targetType"] as const;
/** An export has these columns too, and an import ignores them; times are in epoch milliseconds. */
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

/** The result of an import; of its errors the first hundred are listed. */
export const targetImportView = z
  .object({
    created: z.int(),
    failed: z.int(),
    errors: z.array(z.object({ line: z.int(), controllerId: z.string().optional(), errorCode: z.string(), message: z.string() })),
  })
  .meta({ id: "TargetImport" });
export type TargetImportView = z.output<typeof targetImportView>;

const common = { service: "management", interface: "management", path: "/targets.csv", source: "contract extensions.md" } as const;

/** The import and export of any number of targets as CSV (RFC 4180, UTF-8, the first line names the columns). */
export const targetCsv = routesOf("targets", common, {
  exportCsv: {
    method: "GET",
    query: z.object({ q: z.string().optional() }),
    success: ok,
    responseType: "text/csv",
    permission: ["READ_TARGET"],
    errors: listErrors,
    summary: "Get targets as CSV, by controllerId",
  },
  importCsv: {
    method: "POST",
    query: z.object({ onError: z.enum(["abort", "skip"]).default("abort") }),
    body: z.string(),
    bodyKind: "csv",
    success: ok,
    response: targetImportView,
    permission: ["CREATE_TARGET"],
    errors: ["constraintViolation", "quotaTooManyEntries", "payloadTooLarge", "unsupportedMediaType"],
    summary: "Create targets from CSV: all or none, or those that can be created",
  },
});
