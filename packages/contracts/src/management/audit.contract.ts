import { z } from "zod";
import { pageOf, pageQuery } from "../paging.ts";
import { ok, route } from "../route.ts";
import { lookedUpText } from "../values.ts";
import { listErrors } from "./common.ts";

export const auditResults = ["SUCCESS", "REFUSED", "FAILED", "UNKNOWN"] as const;

/** Who did what to what, when and from where. */
export const auditEntryView = z
  .object({
    id: z.uuid(),
    /** Epoch milliseconds at which the call came. */
    time: z.int(),
    /** USER, DEVICE; NOBODY where nobody could be signed in, and `actor` is who it claimed to be. */
    actorType: z.string(),
    actor: z.string(),
    /** Operation of the interface, e.g. `targets.create`; `signIn` for a sign-in that failed. */
    action: z.string(),
    entity: z.string(),
    /** From the path and, where something was made, from the answer; at most 50. */
    entityIds: z.array(z.string()),
    sourceIp: z.string(),
    requestId: z.string(),
    /** UNKNOWN: its process died before it could tell; whether anything was changed is not known. */
    result: z.enum(auditResults),
    status: z.int().optional(),
    errorCode: z.string().optional(),
    /** Refusals at the door that are alike are one entry. */
    times: z.int(),
    /** Members of the body that the contract lists for the operation, never a secret. */
    details: z.record(z.string(), z.unknown()),
    service: z.string(),
    /** Part of the chain: from now on a change of it would be found out. */
    sealed: z.boolean(),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntryView = z.output<typeof auditEntryView>;

/** What the newest batches of each service's chain were found to be. */
export const auditVerificationView = z
  .object({
    valid: z.boolean(),
    /** Everything there is was looked at; otherwise the newest batches, as far as the time went. */
    complete: z.boolean(),
    services: z.array(
      z.object({
        service: z.string(),
        valid: z.boolean(),
        complete: z.boolean(),
        firstBatch: z.int(),
        lastBatch: z.int(),
        /** Sealed entries of this tenant in these batches. */
        entries: z.int(),
        /** Of the last batch that is right, SHA-256 in hexadecimal; noted elsewhere it proves what came before it. */
        hash: z.string(),
        brokenBatch: z.int().optional(),
        reason: z.string().optional(),
        /**
         * Up to where other services have seen the chain as it is. What came later is protected by the rights of the database alone; absent: all of
         * it. Of a broken chain: the last batch before the break that can be vouched for.
         */
        vouched: z
          .object({
            batch: z.int(),
            position: z.int(),
            /** Epoch milliseconds at which that batch was sealed: nobody vouches for what came after. */
            sealedAt: z.int(),
            /** Epoch milliseconds at which it was first seen so. */
            seenAt: z.int(),
            by: z.array(z.string()),
            /** By a signature of a service whose public key the verifier was given. */
            signed: z.boolean(),
          })
          .optional(),
        /** Months (`YYYYMM`, UTC) since the beginning of the chain for which there is no partition. */
        missingMonths: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: "AuditVerification" });
export type AuditVerificationView = z.output<typeof auditVerificationView>;

const common = { service: "management", interface: "management", method: "GET", success: ok, permission: ["USER_MANAGEMENT"] } as const;

/** The audit trail of the tenant, over all services. */
export const audits = {
  list: route({
    ...common,
    id: "audit.list",
    path: "/audit",
    query: pageQuery,
    response: pageOf(auditEntryView),
    errors: listErrors,
    summary: "List changing calls and failed sign-ins, the newest first",
    source: "contract extensions.md, Audit",
  }),
  verify: route({
    ...common,
    id: "audit.verify",
    path: "/audit/verify",
    response: auditVerificationView,
    errors: [],
    summary: "Recompute the newest part of the chains that seal the audit trail",
    source: "contract extensions.md, Audit",
  }),
  get: route({
    ...common,
    id: "audit.get",
    path: "/audit/:auditId",
    params: z.object({ auditId: lookedUpText }),
    response: auditEntryView,
    errors: ["entityNotFound"],
    summary: "Get an entry of the audit trail",
    source: "contract extensions.md, Audit",
  }),
};
