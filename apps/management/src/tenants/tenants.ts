import { randomBytes } from "node:crypto";
import type { TenantCreate } from "@harrier/contracts";
import { type Database, inTransaction, type PoolClient, type Queryable, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { tenantPermissions } from "../identity/permissions.ts";
import { beginDeletion, findDeletion, type OperationRow } from "../operations/background.sql.ts";
import { hashPassword } from "../users/password.ts";
import { checkPassword } from "../users/weak-passwords.ts";
import { insertTenants } from "./seed-tenant.sql.ts";
import { findTenantByName, lockTenantByName, type TenantRow, writeDescription, writeStatus } from "./tenants.sql.ts";

export interface TenantDeps {
  db: Pick<Database, "pool">;
}

/** Who operates the installation. */
export type Operator = Pick<Principal, "tenantId" | "subject">;

/** The tenant of the operator, which every installation has from its first start on (ADR 12). */
export const operatorTenantId = 1;

/** Each password costs about a quarter of a second of a processor and 16 MB. */
const mostTenants = 100;
const passwordBytes = 18;

/**
 * The permission is the operator's, and so must be the tenant: a user of another one cannot come to hold it (users are granted it by those alone
 * who hold it), and if one did, it would be worth nothing.
 */
export function checkOperator(caller: Pick<Principal, "tenantId">): void {
  if (caller.tenantId !== operatorTenantId) throw new HarrierError("insufficientPermission");
}

/** One tenant, whatever the spelling (contract device.md §9.4). */
export async function getTenant(deps: TenantDeps, name: string): Promise<TenantRow> {
  const row = await runOne(deps.db.pool, findTenantByName, [name]);
  if (row === undefined) throw entityNotFound("Tenant", name);
  return row;
}

export interface CreatedTenant {
  row: TenantRow;
  administrator?: { name: string; password?: string };
}

/** Creates all tenants or none, each with what DEFAULT has too; a password that is made here is in the answer and nowhere else. */
export async function createTenants(deps: TenantDeps, operator: Operator, tenants: readonly TenantCreate[]): Promise<CreatedTenant[]> {
  if (tenants.length === 0) return [];
  if (tenants.length > mostTenants) throw new HarrierError("quotaTooManyEntries", `A request makes ${mostTenants} tenants at most.`);
  for (const { administrator } of tenants) {
    if (administrator?.password !== undefined) checkPassword(administrator.password, administrator.name);
  }
  const made = tenants.map(({ administrator }) =>
    administrator !== undefined && administrator.password === undefined ? randomBytes(passwordBytes).toString("base64url") : undefined,
  );
  const hashes: (string | null)[] = [];
  // one after another: a request keeps one thread busy, and others can sign in meanwhile
  for (const [i, { administrator }] of tenants.entries()) {
    const password = administrator?.password ?? made[i];
    hashes.push(password === undefined ? null : await hashPassword(password));
  }
  const given = tenants.map(({ name, description, administrator }, i) => ({
    name,
    description: description ?? null,
    administrator: administrator?.name ?? null,
    hash: hashes[i],
  }));
  const rows = await run(deps.db.pool, insertTenants, [JSON.stringify(given), tenantPermissions, operator.subject]);
  const byName = new Map(rows.map((row) => [row.name, row]));
  return tenants.map(({ name, administrator }, i) => ({
    row: byName.get(name) as TenantRow,
    ...(administrator && { administrator: { name: administrator.name, ...(made[i] !== undefined && { password: made[i] }) } }),
  }));
}

/** Only the description; one that is missing stays. */
export async function updateTenant(
  deps: TenantDeps,
  operator: Operator,
  { name, description }: { name: string; description?: string | undefined },
): Promise<TenantRow> {
  return changeTenant(deps.db, name, async (tx, row) => {
    if (description === undefined) return row;
    return (await runOne(tx, writeDescription, [row.tenantId, description === "" ? null : description, operator.subject])) ?? row;
  });
}

/** Lets nobody of the tenant in, or everybody again; one that is so already is left as it is. */
export async function switchTenant(
  deps: TenantDeps,
  operator: Operator,
  { name, to }: { name: string; to: "active" | "suspended" },
): Promise<TenantRow> {
  return changeTenant(deps.db, name, async (tx, row) => {
    if (row.tenantId === operatorTenantId) throw readOnlyOperator();
    if (row.status === to) return row;
    return (await runOne(tx, writeStatus, [row.tenantId, to, operator.subject])) ?? row;
  });
}

/**
 * Begins the end of a tenant: from here on nobody signs in, and the operation erases what all owners have of it. Asked again it answers the
 * operation that runs.
 */
export async function deleteTenant(deps: TenantDeps, operator: Operator, name: string): Promise<OperationRow> {
  return inTransaction(deps.db.pool, async (tx) => {
    const row = await lockTenant(tx, name);
    if (row.tenantId === operatorTenantId) throw readOnlyOperator();
    const running = await runOne(tx, findDeletion, [operatorTenantId, row.tenantId]);
    if (running !== undefined) return running;
    await runOne(tx, writeStatus, [row.tenantId, "deleting", operator.subject]);
    const begun = await runOne(tx, beginDeletion, [operatorTenantId, row.tenantId, row.name, operator.subject]);
    if (begun === undefined) throw new Error("the operation was not stored");
    return begun;
  });
}

async function lockTenant(tx: Queryable, name: string): Promise<TenantRow> {
  const row = await runOne(tx, lockTenantByName, [name]);
  if (row === undefined) throw entityNotFound("Tenant", name);
  return row;
}

/** A change of one tenant, under its lock; of one that is on its way out nothing changes any more. */
export async function changeTenant<T>(
  db: Pick<Database, "pool">,
  name: string,
  change: (tx: PoolClient, row: TenantRow) => Promise<T>,
): Promise<T> {
  return inTransaction(db.pool, async (tx) => {
    const row = await lockTenant(tx, name);
    if (row.status === "deleting") throw new HarrierError("entityReadOnly", "The tenant is being deleted.");
    return change(tx, row);
  });
}

function readOnlyOperator(): HarrierError {
  return new HarrierError("entityReadOnly", "The operator's own tenant can neither be suspended nor deleted.");
}
