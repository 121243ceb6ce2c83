import { randomBytes } from "node:crypto";
import type { TenantCreate } from "@harrier/contracts";
import { type Database, inTransaction, type PoolClient, type Queryable, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { tenantPermissions } from "../identity/permissions.ts";
import { beginDeletion, findDeletion, type OperationRow } from "../operations/background.sql.ts";
import { checkSignIns } from "../users/new-sign-ins.ts";
import { hashPassword } from "../users/password.ts";
import { insertTenants } from "./seed-tenant.sql.ts";
import { findTenantByName, lockTenantByName, type TenantRow, writeDescription, writeStatus } from "./tenants.sql.ts";

export interface TenantDeps {
  db: Pick<Database, "pool">;
}

/** This is the operator of the installation. */
export type Operator = Pick<Principal, "tenantId" | "subject">;

/** This is the tenant of the operator, which every installation has from its first start on (ADR 12). */
export const operatorTenantId = 1;

/** The number is limited because each password costs about a quarter of a second of a processor and 16 MB. */
const maxTenants = 100;
const passwordBytes = 18;

/**
 * Refuses everybody but the operator's users. The permission is the operator's, and so must be the tenant: a user of another tenant cannot
 * get the permission (only users who hold it can grant it), and if one did, it would have no effect.
 */
export function checkOperator(caller: Pick<Principal, "tenantId">): void {
  if (caller.tenantId !== operatorTenantId) throw new HarrierError("insufficientPermission");
}

/** Returns one tenant, in whatever spelling (contract device.md §9.4). */
export async function getTenant(deps: TenantDeps, name: string): Promise<TenantRow> {
  const row = await runOne(deps.db.pool, findTenantByName, [name]);
  if (row === undefined) throw entityNotFound("Tenant", name);
  return row;
}

export interface CreatedTenant {
  row: TenantRow;
  administrator?: { name: string; password?: string };
}

/** Creates all tenants or none, each with everything that DEFAULT has; a generated password is in the answer and nowhere else. */
export async function createTenants(deps: TenantDeps, operator: Operator, tenants: readonly TenantCreate[]): Promise<CreatedTenant[]> {
  if (tenants.length === 0) return [];
  if (tenants.length > maxTenants) throw new HarrierError("quotaTooManyEntries", `A request makes ${maxTenants} tenants at most.`);
  checkSignIns(tenants.flatMap(({ administrator }) => administrator ?? []));
  const made = tenants.map(({ administrator }) =>
    administrator !== undefined && administrator.password === undefined && administrator.passwordHash === undefined
      ? randomBytes(passwordBytes).toString("base64url")
      : undefined,
  );
  const hashes: (string | null)[] = [];
  // The passwords are hashed one after another: a request keeps one thread busy, and others can sign in meanwhile.
  for (const [i, { administrator }] of tenants.entries()) {
    const password = administrator?.password ?? made[i];
    hashes.push(password === undefined ? (administrator?.passwordHash ?? null) : await hashPassword(password));
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

/** Changes the description, the only member that can change; one that is missing stays. */
export async function updateTenant(
  deps: TenantDeps,
  operator: Operator,
  { name, description, ifMatch }: { name: string; description?: string | undefined; ifMatch?: IfMatch },
): Promise<TenantRow> {
  return changeTenant(deps.db, name, async (tx, row) => {
    requireRevision(ifMatch, row);
    if (description === undefined) return row;
    return (await runOne(tx, writeDescription, [row.tenantId, description === "" ? null : description, operator.subject])) ?? row;
  });
}

/** Suspends or resumes a tenant: no principal of a suspended one can sign in; a call that changes nothing writes nothing. */
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
 * Begins the deletion of a tenant: from here on none of its principals can sign in, and the operation erases what all owners have of it. A
 * repeated call returns the running operation.
 */
export async function deleteTenant(
  deps: TenantDeps,
  operator: Operator,
  { name, ifMatch }: { name: string; ifMatch?: IfMatch },
): Promise<OperationRow> {
  return inTransaction(deps.db.pool, async (tx) => {
    const row = await lockTenant(tx, name);
    if (row.tenantId === operatorTenantId) throw readOnlyOperator();
    const running = await runOne(tx, findDeletion, [operatorTenantId, row.tenantId]);
    if (running !== undefined) return running;
    requireRevision(ifMatch, row);
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

/** Runs a change of one tenant under its lock; a tenant that is being deleted does not change any more. */
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
