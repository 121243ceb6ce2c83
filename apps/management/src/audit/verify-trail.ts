import { type AnchorKeys, type AuditSchema, auditSchemas, keptSince, type Verification, verifyChain } from "@harrier/audit";
import type { AuditVerificationView } from "@harrier/contracts";
import type { Queryable } from "@harrier/db";
import { optional } from "@harrier/query";
import { auditServices, readUsed } from "./audit.sql.ts";

interface Deps {
  db: Queryable;
  now: () => number;
  /** What the services have seen of each other's trails must be signed with these keys. */
  keys?: AnchorKeys | undefined;
}

/** So many batches of each service are recomputed: with 500 entries each that is at most 50,000 entries and some seconds of work. */
const newestBatches = 100;
const maxMs = 10_000;

const common = ({ now, keys }: Deps) => ({ keptSince: keptSince(new Date(now())), ...(keys === undefined ? {} : { keys }) });

/** Recomputes the newest batches of every chain and returns what a tenant may know of the result (contract extensions.md, Audit). */
export async function verifyNewest(deps: Deps, request: { tenantId: number; deadline: number }): Promise<AuditVerificationView> {
  const deadline = Math.min(deps.now() + maxMs, request.deadline - 1_000);
  const found: Verification[] = [];
  const used = await readUsed(deps.db);
  for (const schema of auditSchemas) {
    const options = {
      db: deps.db,
      schema,
      newest: newestBatches,
      tenantId: request.tenantId,
      deadline,
      ...common(deps),
      used: used[schema],
    };
    found.push(await verifyChain(options));
  }
  return {
    valid: found.every(({ valid }) => valid),
    complete: found.every(({ complete }) => complete),
    services: found.map(({ schema, broken, vouched, ...chain }) => ({
      service: auditServices[schema],
      ...chain,
      ...optional("vouched", vouched === undefined ? undefined : { ...vouched, by: vouched.by.map((by) => auditServices[by]) }),
      ...optional("brokenBatch", broken?.batch),
      ...optional("reason", broken?.reason),
    })),
  };
}

/** Recomputes every batch of every chain, and calls back with the result of each service as soon as it is known. */
export async function verifyAll(deps: Deps, tell: (found: Verification & { schema: AuditSchema }) => void): Promise<boolean> {
  let valid = true;
  const used = await readUsed(deps.db);
  for (const schema of auditSchemas) {
    const found = await verifyChain({ db: deps.db, schema, ...common(deps), used: used[schema] });
    valid &&= found.valid;
    tell(found);
  }
  return valid;
}
