import { freezeSafety, maxSafetyPolicies, type SafetyPolicyCreate, type SafetyPolicyUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, type Queryable, run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, quotaExceeded } from "@harrier/errors";
import { type IfMatch, unmatched } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { takeIds } from "../lists/ids.ts";
import {
  deleteSafetyPolicy,
  findSafetyPolicy,
  insertSafetyPolicies,
  isDefaultPolicy,
  listSafetyPolicies,
  lockTenantForPolicy,
  type SafetyPolicyRow,
  updateSafetyPolicy,
} from "./safety-policies.sql.ts";

export interface SafetyPolicyDeps {
  db: Database;
  ids: Pick<IdBlocks, "next" | "take">;
}

/** Lists all policies of a tenant. */
export function listAll(deps: Pick<SafetyPolicyDeps, "db">, tenantId: number): Promise<SafetyPolicyRow[]> {
  return run(deps.db.pool, listSafetyPolicies, [tenantId]);
}

/** Returns one policy; throws entityNotFound. */
export async function getSafetyPolicy(deps: Pick<SafetyPolicyDeps, "db">, tenantId: number, id: number): Promise<SafetyPolicyRow> {
  return found(await runOne(deps.db.pool, findSafetyPolicy, [tenantId, id]), id);
}

/**
 * Creates policies, all or none. They are stored as they are sent, and checked with the defaults in place, so that a default that changes one day
 * reaches them.
 * @throws constraintViolation that names the member, entityAlreadyExists, quotaTooManyEntries
 */
export async function createSafetyPolicies(
  deps: SafetyPolicyDeps,
  actor: Actor,
  input: readonly SafetyPolicyCreate[],
): Promise<SafetyPolicyRow[]> {
  if (input.length === 0) return [];
  for (const [n, { safety }] of input.entries()) freezeSafety(safety, `${n}.safety`);
  const ids = await takeIds(deps.ids, actor.tenantId, "safety-policy", input.length);
  const rows = input.map((policy, n) => ({ ...policy, id: ids[n] }));
  return inTransaction(deps.db.pool, async (tx) => {
    await runOne(tx, lockTenantForPolicy, [actor.tenantId]);
    const stored = await run(tx, insertSafetyPolicies, [actor.tenantId, JSON.stringify(rows), actor.subject]);
    if (stored.length < rows.length) throw quotaExceeded({ n: rows.length, of: "SafetyPolicy", owner: "Tenant", limit: maxSafetyPolicies });
    return stored;
  });
}

/**
 * Changes a policy; absent members stay as they are, and `safety` is replaced as a whole. What is under way keeps its copy.
 * @throws constraintViolation, entityAlreadyExists, entityNotFound, entityChanged, safetyPolicyIsDefault (another name for the tenant's default)
 */
export async function changeSafetyPolicy(
  deps: Pick<SafetyPolicyDeps, "db">,
  { tenantId, subject }: Actor,
  { id, change, ifMatch }: { id: number; change: SafetyPolicyUpdate; ifMatch?: IfMatch },
): Promise<SafetyPolicyRow> {
  const { name = null, description = null, safety } = change;
  if (safety !== undefined) freezeSafety(safety, "safety");
  const stored = safety === undefined ? null : JSON.stringify(safety);
  const write = (db: Queryable) => runOne(db, updateSafetyPolicy, [tenantId, id, name, description, stored, subject, ifMatch ?? null]);
  const row = name === null ? await write(deps.db.pool) : await withoutDefault(deps, { tenantId, id, name }, write);
  if (row === undefined) throw await missed(deps, { tenantId, id, ifMatch });
  return row;
}

/** Deletes a policy; what is under way keeps its copy. @throws entityNotFound, entityChanged, safetyPolicyIsDefault */
export async function removeSafetyPolicy(
  deps: Pick<SafetyPolicyDeps, "db">,
  { tenantId }: Actor,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
): Promise<void> {
  const gone = await withoutDefault(deps, { tenantId, id }, (tx) => runCount(tx, deleteSafetyPolicy, [tenantId, id, ifMatch ?? null]));
  if (gone === 0) throw await missed(deps, { tenantId, id, ifMatch });
}

/**
 * Takes a name away, unless the setting `safety.default` has it: rollouts that send none would be refused. Settings change under the same lock.
 * @throws safetyPolicyIsDefault
 */
function withoutDefault<T>(
  { db }: Pick<SafetyPolicyDeps, "db">,
  { tenantId, id, name }: { tenantId: number; id: number; name?: string },
  take: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return inTransaction(db.pool, async (tx) => {
    await runOne(tx, lockTenantForPolicy, [tenantId]);
    const named = await runOne(tx, isDefaultPolicy, [tenantId, id]);
    if (named !== undefined && named.name.toLowerCase() !== name?.toLowerCase()) throw new HarrierError("safetyPolicyIsDefault");
    return take(tx);
  });
}

const missed = ({ db }: Pick<SafetyPolicyDeps, "db">, { tenantId, id, ifMatch }: { tenantId: number; id: number; ifMatch: IfMatch }) =>
  unmatched(ifMatch, entityNotFound("SafetyPolicy", id), () => runOne(db.pool, findSafetyPolicy, [tenantId, id]));

function found(row: SafetyPolicyRow | undefined, id: number): SafetyPolicyRow {
  if (row === undefined) throw entityNotFound("SafetyPolicy", id);
  return row;
}
