import { createHash } from "node:crypto";

/** The caller and the operation, as far as they are known before the work begins. */
export interface AuditCall {
  readonly tenantId: number;
  readonly actorKind: string;
  readonly actor: string;
  readonly action: string;
  readonly entity: string;
  readonly entityIds: readonly string[];
  /** The address of the client, as the gateway resolved it. */
  readonly sourceIp: string;
  readonly requestId: string;
  /** The details in JSON, only with the audit fields of the route (`auditFields`). */
  readonly details: string;
}

export interface AuditOutcome {
  readonly status: number;
  readonly errorCode?: string | undefined;
  /** The ids of what was created, if the call could not name it. */
  readonly entityIds?: readonly string[] | undefined;
}

export type AuditResult = "SUCCESS" | "REFUSED" | "FAILED" | "UNKNOWN";

/** Answers the result of a call. It is never UNKNOWN, which stands for a call whose process died. */
export function resultOf(status: number): AuditResult {
  if (status < 400) return "SUCCESS";
  return status < 500 ? "REFUSED" : "FAILED";
}

/** An entry as the table holds it. Times are microseconds in a text, so that exactly what is stored is hashed. */
export interface StoredEntry {
  tenantId: number;
  id: string;
  at: string;
  actorKind: string;
  actor: string;
  action: string;
  entity: string;
  entityIds: string[];
  sourceIp: string;
  requestId: string;
  times: number;
  details: string;
  endedAt: string;
  result: AuditResult;
  status: number | null;
  errorCode: string | null;
}

export interface BatchHead {
  number: number;
  firstPosition: number;
  lastPosition: number;
  previousSealedAt: string | null;
  previousHash: Buffer;
  sealedAt: string;
}

/** The version of the form of both hashes below; another form gets another number. */
const form = 1;

/** Computes the SHA-256 over everything that an entry says, its place in the chain and whose chain that is. */
export function digestOf(schema: string, position: number, e: StoredEntry): Buffer {
  const subject = [e.tenantId, e.id, e.at, e.actorKind, e.actor, e.action, e.entity, e.entityIds, e.sourceIp, e.requestId];
  const outcome = [e.times, e.details, e.endedAt, e.result, e.status, e.errorCode];
  return createHash("sha256")
    .update(JSON.stringify([form, schema, position, ...subject, ...outcome]))
    .digest();
}

/** Computes the SHA-256 over a batch: its place, the hash before it and the digests of its entries in their order. */
export function batchHash(schema: string, head: BatchHead, digests: readonly Buffer[]): Buffer {
  const { number, firstPosition, lastPosition, previousSealedAt, previousHash, sealedAt } = head;
  const hash = createHash("sha256");
  hash.update(
    JSON.stringify([form, schema, number, firstPosition, lastPosition, previousSealedAt, previousHash.toString("hex"), sealedAt]),
  );
  for (const digest of digests) hash.update(digest);
  return hash.digest();
}
