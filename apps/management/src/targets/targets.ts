import { shortestToken, type TargetCreate, type TargetUpdate } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, violationsInfo } from "@harrier/errors";
import type { Client, Identity, OutCall } from "@harrier/rpc";
import type { SetRow } from "../rows/set.ts";
import type { TargetRow } from "../rows/target.ts";
import { checkAddress } from "./address.ts";
import { isInScope, type ScopedPermission, scopeOf } from "./scope.ts";
import { findAssignedSet, findInstalledSet, findTargets, missingTargetTypes, readAttributes } from "./targets.sql.ts";

export interface TargetDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "createTargets" | "updateTarget" | "deleteTargets" | "readSecurityTokens">;
}

/** Who asks, and what a call on their behalf takes along. */
export interface Asker {
  identity: Identity;
  out: (commandId?: string) => OutCall;
}

/** A target and, where the caller may read it, its token. */
export interface FoundTarget {
  row: TargetRow;
  securityToken: string | undefined;
}

export const mayReadTokens = (identity: Identity): boolean => identity.permissions.includes("READ_TARGET_SECURITY_TOKEN");

/** Adds the security tokens, which only controller can read, for callers who may see them (contract management.md §3). */
export async function withTokens(deps: Pick<TargetDeps, "targets">, asker: Asker, rows: readonly TargetRow[]): Promise<FoundTarget[]> {
  if (rows.length === 0 || !mayReadTokens(asker.identity)) return rows.map((row) => ({ row, securityToken: undefined }));
  const { tokens } = await deps.targets.readSecurityTokens({ controllerIds: rows.map((row) => row.controllerId) }, asker.out());
  return rows.map((row) => ({ row, securityToken: tokens[row.controllerId] }));
}

/** One target (spec 001 §4.2); one outside the caller's scope does not exist for them. */
export async function getTarget(
  deps: TargetDeps,
  asker: Asker,
  controllerId: string,
  permission: ScopedPermission = "READ_TARGET",
): Promise<FoundTarget> {
  const { identity } = asker;
  const row = await runOne(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, permission), [controllerId]]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  const [found] = await withTokens(deps, asker, [row]);
  return found ?? { row, securityToken: undefined };
}

/** Those of some targets that are there, for whoever may change them. */
export async function getChanged(deps: TargetDeps, asker: Asker, controllerIds: readonly string[]): Promise<FoundTarget[]> {
  const { identity } = asker;
  if (controllerIds.length === 0) return [];
  const rows = await run(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), controllerIds]);
  return withTokens(deps, asker, rows);
}

/** Creates all targets or none (spec 001 §4.2); controller writes them, in one command. */
export async function createTargets(
  deps: TargetDeps,
  asker: Asker,
  request: { targets: readonly TargetCreate[]; commandId: string },
): Promise<FoundTarget[]> {
  const { targets, commandId } = request;
  if (targets.length === 0) return [];
  for (const { address } of targets) checkAddress(address);
  await checkTargetTypes(deps, asker.identity.tenantId, targets);
  const created = await deps.targets.createTargets({ targets: targets.map(toNewTarget) }, asker.out(commandId));
  const tokens = new Map(created.targets.map((target) => [target.controllerId, target.securityToken]));
  const tokenScope = scopeOf(asker.identity, "READ_TARGET_SECURITY_TOKEN");
  const ids = targets.map((target) => target.controllerId);
  // whoever created a target sees the answer, whatever they may read later
  const rows = await run(deps.db.pool, findTargets, [asker.identity.tenantId, null, ids]);
  const rowOf = new Map(rows.map((row) => [row.controllerId, row]));
  return ids.flatMap((id) => {
    const row = rowOf.get(id);
    if (row === undefined) return [];
    const showToken = mayReadTokens(asker.identity) && isInScope(tokenScope, row.targetTypeId);
    return [{ row, securityToken: showToken ? tokens.get(id) : undefined }];
  });
}

/** Takes the type of a target away, in bodies and in commands (contract management.md §4.6). */
const noType = -1;

/** A name that is not given is the controllerId, as far as it fits (contract management.md §4.6). */
const longestName = 128;

/** As controller takes it. */
export function toNewTarget(target: TargetCreate) {
  const { controllerId, name, description, address, securityToken, targetType, group, requestAttributes } = target;
  return {
    controllerId,
    name: name ?? controllerId.slice(0, longestName),
    ...present({ description, address, securityToken, targetTypeId: targetType, group, requestAttributes }),
  };
}

/** Changes a target; `targetType: -1` takes its type away, and attributes can be asked for but not declined (contract management.md §4.6). */
export async function changeTarget(
  deps: TargetDeps,
  asker: Asker,
  request: { controllerId: string; change: TargetUpdate },
): Promise<FoundTarget> {
  const { controllerId, change } = request;
  const { name, description, address, securityToken, requestAttributes, targetType, group } = change;
  if (requestAttributes === false) throw declined();
  checkAddress(address);
  if (securityToken !== undefined && securityToken.length < shortestToken) await checkKept(deps, asker, controllerId, securityToken);
  if (targetType !== undefined && targetType !== noType) await checkTargetTypes(deps, asker.identity.tenantId, [change]);
  await deps.targets.updateTarget(
    { controllerId, ...present({ name, description, address, securityToken, requestAttributes, targetTypeId: targetType, group }) },
    asker.out(),
  );
  // whoever may change a target sees what it has become
  return getTarget(deps, asker, controllerId, "UPDATE_TARGET");
}

/** What a device was asked for cannot be taken back, only not begun with (contract management.md §4.6). */
function declined(): HarrierError {
  const problem = "can be set to true, not to false";
  const info = violationsInfo([{ path: "requestAttributes", problem }]);
  return new HarrierError("constraintViolation", `requestAttributes ${problem}.`, { info });
}

/** A token of a length that new ones may not have is good where the target has it: clients send back what they read. */
async function checkKept(deps: TargetDeps, asker: Asker, controllerId: string, securityToken: string): Promise<void> {
  const { securityToken: kept } = await getTarget(deps, asker, controllerId, "UPDATE_TARGET");
  if (kept === securityToken) return;
  throw new HarrierError("constraintViolation", `securityToken must have at least ${shortestToken} characters.`);
}

/** Sets the type of a target or, without one, takes it away (contract management.md §4.6); what runs goes on (§5.11). */
export async function setTargetType(deps: TargetDeps, asker: Asker, controllerId: string, typeId: number | undefined): Promise<void> {
  if (typeId !== undefined) await checkTargetTypes(deps, asker.identity.tenantId, [{ targetType: typeId }]);
  await deps.targets.updateTarget({ controllerId, targetTypeId: typeId ?? noType }, asker.out());
}

/** Deletes a target with everything it owns (contract management.md §5.1). */
export async function removeTarget(deps: Pick<TargetDeps, "targets">, asker: Asker, controllerId: string): Promise<void> {
  const { deleted } = await deps.targets.deleteTargets({ controllerIds: [controllerId] }, asker.out());
  if (deleted === 0) throw entityNotFound("Target", controllerId);
}

/** Attributes that the device sent, keys ascending; none: undefined. */
export async function getAttributes(
  deps: Pick<TargetDeps, "db">,
  identity: Identity,
  controllerId: string,
): Promise<Record<string, string> | undefined> {
  const row = await runOne(deps.db.pool, readAttributes, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  if (row.attributes === null) return undefined;
  return Object.fromEntries(Object.entries(row.attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The set that is assigned to a target or installed on it; undefined where there is none. */
export async function getSetOfTarget(
  deps: Pick<TargetDeps, "db">,
  identity: Identity,
  { controllerId, which }: { controllerId: string; which: "assigned" | "installed" },
): Promise<SetRow | undefined> {
  const find = which === "assigned" ? findAssignedSet : findInstalledSet;
  const row = await runOne(deps.db.pool, find, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  return row.id === null ? undefined : row;
}

async function checkTargetTypes(
  deps: Pick<TargetDeps, "db">,
  tenantId: number,
  targets: readonly { targetType?: number | undefined }[],
): Promise<void> {
  const ids = [...new Set(targets.flatMap((target) => target.targetType ?? []))];
  if (ids.length === 0) return;
  const missing = await runOne(deps.db.pool, missingTargetTypes, [tenantId, ids]);
  if (missing !== undefined) throw entityNotFound("TargetType", missing.id);
}

/** Only the members that are given: a proto field that is set to nothing would be set. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
