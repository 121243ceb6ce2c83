import { type AnchorKeys, type AuditSchema, auditSchemas, keptSince, type Verification, verifyChain } from "@harrier/audit";
import type { AuditVerificationView } from "@harrier/contracts";
import type { Queryable } from "@harrier/db";
import { optional } from "../lists/json.ts";
import { auditServices, readUsed } from "./audit.sql.ts";

interface Deps {
  db: Queryable;
  now: () => number;
  /** Whose signatures are demanded of what the services have seen of each other's trails. */
  keys?: AnchorKeys | undefined;
}

/** Of each service: with 500 entries each at most 50,000, some seconds of work. */
const newestBatches = 100;
const longestMs = 10_000;

const common = ({ now, keys }: Deps) => ({ keptSince: keptSince(new Date(now())), ...(keys === undefined ? {} : { keys }) });

/** The newest batches of every chain, recomputed; what a tenant may know of them (contract extensions.md, Audit). */
export async function verifyNewest(deps: Deps, request: { tenantId: number; deadline: number }): Promise<AuditVerificationView> {
  const deadline = Math.min(deps.now() + longestMs, request.deadline - 1_000);
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

/** Every batch of every chain; calls back with each service's, as soon as it is known. */
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
