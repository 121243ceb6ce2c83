export type { AuditCall, AuditOutcome, AuditResult } from "./entry.ts";
export { entryId, plainText } from "./entry-id.ts";
export { auditTables, keptSince } from "./retention.ts";
export { entriesPerBatch, type SealedBatch, Sealer, sealBatch } from "./sealer.ts";
export { startAudit } from "./start.ts";
export { AuditTrail, type EndEntry } from "./trail.ts";
export { type AuditSchema, auditSchemas } from "./verify.sql.ts";
export { type Verification, type VerifyOptions, verifyChain } from "./verify.ts";
