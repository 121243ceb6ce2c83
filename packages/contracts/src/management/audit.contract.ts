import { z } from "zod";
import { pageOf, pageQuery } from "../paging.ts";
import { ok, routesOf } from "../route.ts";
import { lookedUpText } from "../values.ts";
import { cursorListErrors, listErrors } from "./common.ts";

export const auditResults = ["SUCCESS", "REFUSED", "FAILED", "UNKNOWN"] as const;

/** An entry says who did what to what, when and from where. */
export const auditEntryView = z
  .object({
    id: z.uuid(),
    /** The time of the call in epoch milliseconds. */
    time: z.int(),
    /** The kind is USER, DEVICE or NOBODY; for NOBODY, who could not be signed in, `actor` is who it claimed to be. */
    actorType: z.string(),
    actor: z.string(),
    /** The operation of the interface, e.g. `targets.create`; `signIn` stands for a failed sign-in. */
    action: z.string(),
    entity: z.string(),
    /** The ids come from the path and, if something was created, from the answer; there are at most 50. */
    entityIds: z.array(z.string()),
    sourceIp: z.string(),
    requestId: z.string(),
    /** UNKNOWN means that the process died before it recorded the result, so it is not known whether anything was changed. */
    result: z.enum(auditResults),
    status: z.int().optional(),
    errorCode: z.string().optional(),
    /** Denied requests that are alike are counted in one entry. */
    times: z.int(),
    /** The audit fields of the operation, which never hold a secret. */
    details: z.record(z.string(), z.unknown()),
    service: z.string(),
    /** A sealed entry is part of the chain: a later change of it would be detected. */
    sealed: z.boolean(),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntryView = z.output<typeof auditEntryView>;

/** The result of verifying the newest batches of each service's chain. */
export const auditVerificationView = z
  .object({
    valid: z.boolean(),
    /** True when all batches were verified; otherwise only the newest ones were, as far as the time allowed. */
    complete: z.boolean(),
    services: z.array(
      z.object({
        service: z.string(),
        valid: z.boolean(),
        complete: z.boolean(),
        firstBatch: z.int(),
        lastBatch: z.int(),
        /** So many sealed entries of this tenant are in these batches. */
        entries: z.int(),
        /** The SHA-256 of the last valid batch in hexadecimal; a copy kept elsewhere proves what came before it. */
        hash: z.string(),
        brokenBatch: z.int().optional(),
        reason: z.string().optional(),
        /**
         * Anchors of other services confirm the chain up to here. Only the rights of the database protect later entries; if it is absent, that is
         * all of them. In a broken chain it is the last confirmed batch before the break.
         */
        vouched: z
          .object({
            batch: z.int(),
            position: z.int(),
            /** The time in epoch milliseconds at which that batch was sealed; no anchor confirms later entries. */
            sealedAt: z.int(),
            /** The time in epoch milliseconds at which another service first saw that batch. */
            seenAt: z.int(),
            by: z.array(z.string()),
            /** Whether a service signed the anchor whose public key the verifier was given. */
            signed: z.boolean(),
          })
          .optional(),
        /** The months (`YYYYMM`, UTC) since the beginning of the chain for which there is no partition. */
        missingMonths: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: "AuditVerification" });
export type AuditVerificationView = z.output<typeof auditVerificationView>;

/** An export of the audit trail has these columns; `time` is in epoch milliseconds, `timeUtc` the same in ISO 8601. */
export const auditCsvColumns = [
  ...["id", "time", "timeUtc", "actorType", "actor", "action", "entity", "entityIds", "sourceIp", "requestId"],
  ...["result", "status", "errorCode", "times", "service", "sealed", "details"],
] as const;

const common = { service: "management", interface: "management", method: "GET", success: ok, permission: ["USER_MANAGEMENT"] } as const;

/** The audit trail of the tenant, over all services. */
export const audits = routesOf("audit", common, {
  list: {
    path: "/audit",
    query: pageQuery,
    response: pageOf(auditEntryView),
    errors: cursorListErrors,
    summary: "List changing calls and failed sign-ins, the newest first",
    source: "contract extensions.md, Audit",
  },
  exportCsv: {
    path: "/audit.csv",
    query: z.object({ q: z.string().optional() }),
    responseType: "text/csv",
    errors: listErrors,
    summary: "Get entries of the audit trail as CSV, the newest first",
    source: "contract console.md §3",
  },
  verify: {
    path: "/audit/verify",
    response: auditVerificationView,
    errors: [],
    summary: "Recompute the newest part of the chains that seal the audit trail",
    source: "contract extensions.md, Audit",
  },
  get: {
    path: "/audit/:auditId",
    params: z.object({ auditId: lookedUpText }),
    response: auditEntryView,
    errors: ["entityNotFound"],
    summary: "Get an entry of the audit trail",
    source: "contract extensions.md, Audit",
  },
});
