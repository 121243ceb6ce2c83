import { type AuditSchema, auditSchemas, keptSince, type Verification, verifyChain } from "@harrier/audit";
import type { AuditVerificationView } from "@harrier/contracts";
import type { Queryable } from "@harrier/db";
import { optional } from "../lists/json.ts";
import { auditServices } from "./audit.sql.ts";

interface Deps {
  db: Queryable;
  now: () => number;
}

/** Of each service: with 500 entries each at most 50,000, some seconds of work. */
const newestBatches = 100;
const longestMs = 10_000;

/** The newest batches of every chain, recomputed; what a tenant may know of them (contract extensions.md, Audit). */
export async function verifyNewest(deps: Deps, request: { tenantId: number; deadline: number }): Promise<AuditVerificationView> {
  const deadline = Math.min(deps.now() + longestMs, request.deadline - 1_000);
  const found: Verification[] = [];
  for (const schema of auditSchemas) {
    const options = {
      db: deps.db,
      schema,
      newest: newestBatches,
      tenantId: request.tenantId,
      deadline,
      keptSince: keptSince(new Date(deps.now())),
    };
    found.push(await verifyChain(options));
  }
  return {
    valid: found.every(({ valid }) => valid),
    complete: found.every(({ complete }) => complete),
    services: found.map(({ schema, broken, ...chain }) => ({
      service: auditServices[schema],
      ...chain,
      ...optional("brokenBatch", broken?.batch),
      ...optional("reason", broken?.reason),
    })),
  };
}

/** Every batch of every chain; calls back with each service's, as soon as it is known. */
export async function verifyAll(deps: Deps, tell: (found: Verification & { schema: AuditSchema }) => void): Promise<boolean> {
  let valid = true;
  for (const schema of auditSchemas) {
    const found = await verifyChain({ db: deps.db, schema, keptSince: keptSince(new Date(deps.now())) });
    valid &&= found.valid;
    tell(found);
  }
  return valid;
}
