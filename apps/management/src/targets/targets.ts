import { minTokenLength, type TargetCreate, type TargetUpdate } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, violationsInfo } from "@harrier/errors";
import { type IfMatch, isInScope, scopeOf, type TargetRow } from "@harrier/query";
import type { Client, Identity, OutCall } from "@harrier/rpc";
import type { SetRow } from "../rows/set.ts";
import { checkAddress } from "./address.ts";
import { findAssignedSet, findInstalledSet, findTargets, missingTargetTypes, readAttributes } from "./targets.sql.ts";

export interface TargetDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "createTargets" | "updateTarget" | "deleteTargets" | "readSecurityTokens">;
}

/** This is the actor, with what a call on their behalf carries. */
export interface Actor {
  identity: Identity;
  out: (commandId?: string) => OutCall;
}

/** This is a target and, where the caller may read it, its token. */
export interface FoundTarget<Row extends TargetRow = TargetRow> {
  row: Row;
  securityToken: string | undefined;
}

export const mayReadTokens = (identity: Identity): boolean => identity.permissions.includes("READ_TARGET_SECURITY_TOKEN");

/** Adds the security tokens, which only controller can read, for callers who may see them (contract management.md §3). */
export async function withTokens<Row extends TargetRow>(
  deps: Pick<TargetDeps, "targets">,
  actor: Actor,
  rows: readonly Row[],
): Promise<FoundTarget<Row>[]> {
  if (rows.length === 0 || !mayReadTokens(actor.identity)) return rows.map((row) => ({ row, securityToken: undefined }));
  const { tokens } = await deps.targets.readSecurityTokens({ controllerIds: rows.map((row) => row.controllerId) }, actor.out());
  return rows.map((row) => ({ row, securityToken: tokens[row.controllerId] }));
}

/** Returns one target (spec 001 §4.2); for the caller, a target outside their scope does not exist. */
export async function getTarget(
  deps: TargetDeps,
  actor: Actor,
  controllerId: string,
  permission: string = "READ_TARGET",
): Promise<FoundTarget> {
  const { identity } = actor;
  const row = await runOne(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, permission), [controllerId]]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  const [found] = await withTokens(deps, actor, [row]);
  return found ?? { row, securityToken: undefined };
}

/** Returns those of some targets that exist, for a user who may change them. */
export async function getChanged(deps: TargetDeps, actor: Actor, controllerIds: readonly string[]): Promise<FoundTarget[]> {
  const { identity } = actor;
  if (controllerIds.length === 0) return [];
  const rows = await run(deps.db.pool, findTargets, [identity.tenantId, scopeOf(identity, "UPDATE_TARGET"), controllerIds]);
  return withTokens(deps, actor, rows);
}

/** Creates all targets or none (spec 001 §4.2); controller writes them, in one command. */
export async function createTargets(
  deps: TargetDeps,
  actor: Actor,
  request: { targets: readonly TargetCreate[]; commandId: string },
): Promise<FoundTarget[]> {
  const { targets, commandId } = request;
  if (targets.length === 0) return [];
  for (const { address } of targets) checkAddress(address);
  await checkTargetTypes(deps, actor.identity.tenantId, targets);
  const created = await deps.targets.createTargets({ targets: targets.map(toNewTarget) }, actor.out(commandId));
  const tokens = new Map(created.targets.map((target) => [target.controllerId, target.securityToken]));
  const tokenScope = scopeOf(actor.identity, "READ_TARGET_SECURITY_TOKEN");
  const ids = targets.map((target) => target.controllerId);
  // A user who created a target sees the answer, even without the permission to read targets.
  const rows = await run(deps.db.pool, findTargets, [actor.identity.tenantId, null, ids]);
  const rowOf = new Map(rows.map((row) => [row.controllerId, row]));
  return ids.flatMap((id) => {
    const row = rowOf.get(id);
    if (row === undefined) return [];
    const showToken = mayReadTokens(actor.identity) && isInScope(tokenScope, row.targetTypeId);
    return [{ row, securityToken: showToken ? tokens.get(id) : undefined }];
  });
}

/** This id stands for no type, in bodies and in commands (contract management.md §4.6). */
const noType = -1;

/** A target without a name gets its controllerId, cut to this length (contract management.md §4.6). */
const maxNameLength = 128;

/** Returns a new target as controller's command takes it. */
export function toNewTarget(target: TargetCreate) {
  const { controllerId, name, description, address, securityToken, targetType, group, requestAttributes } = target;
  return {
    controllerId,
    name: name ?? controllerId.slice(0, maxNameLength),
    ...present({ description, address, securityToken, targetTypeId: targetType, group, requestAttributes }),
  };
}

/**
 * Changes a target; `targetType: -1` removes its type, and attributes can be requested but a request cannot be withdrawn
 * (contract management.md §4.6).
 */
export async function changeTarget(
  deps: TargetDeps,
  actor: Actor,
  request: { controllerId: string; change: TargetUpdate; ifMatch?: IfMatch },
): Promise<FoundTarget> {
  const { controllerId, change, ifMatch } = request;
  const { name, description, address, securityToken, requestAttributes, targetType, group } = change;
  if (requestAttributes === false) throw declined();
  checkAddress(address);
  if (securityToken !== undefined && securityToken.length < minTokenLength) await checkKept(deps, actor, controllerId, securityToken);
  if (targetType !== undefined && targetType !== noType) await checkTargetTypes(deps, actor.identity.tenantId, [change]);
  await deps.targets.updateTarget(
    {
      controllerId,
      ...present({ name, description, address, securityToken, requestAttributes, targetTypeId: targetType, group }),
      ...demanded(ifMatch),
    },
    actor.out(),
  );
  // A user who may change a target may also read the result.
  return getTarget(deps, actor, controllerId, "UPDATE_TARGET");
}

/** An update cannot withdraw a request of attributes; only a creation may set it to false (contract management.md §4.6). */
function declined(): HarrierError {
  const problem = "can be set to true, not to false";
  const info = violationsInfo([{ path: "requestAttributes", problem }]);
  return new HarrierError("constraintViolation", `requestAttributes ${problem}.`, { info });
}

/** Refuses tokens that are too short. A short token is accepted if the target has it already, because clients send back what they read. */
async function checkKept(deps: TargetDeps, actor: Actor, controllerId: string, securityToken: string): Promise<void> {
  const { securityToken: kept } = await getTarget(deps, actor, controllerId, "UPDATE_TARGET");
  if (kept === securityToken) return;
  throw new HarrierError("constraintViolation", `securityToken must have at least ${minTokenLength} characters.`);
}

/** Sets the type of a target or, without one, removes it (contract management.md §4.6); running actions go on (§5.11). */
export async function setTargetType(deps: TargetDeps, actor: Actor, controllerId: string, typeId: number | undefined): Promise<void> {
  if (typeId !== undefined) await checkTargetTypes(deps, actor.identity.tenantId, [{ targetType: typeId }]);
  await deps.targets.updateTarget({ controllerId, targetTypeId: typeId ?? noType }, actor.out());
}

/** Deletes a target with everything it owns (contract management.md §5.1). */
export async function removeTarget(
  deps: Pick<TargetDeps, "targets">,
  actor: Actor,
  { controllerId, ifMatch }: { controllerId: string; ifMatch?: IfMatch },
): Promise<void> {
  const { deleted } = await deps.targets.deleteTargets({ controllerIds: [controllerId], ...demanded(ifMatch) }, actor.out());
  if (deleted === 0) throw entityNotFound("Target", controllerId);
}

/** Returns the attributes that the device sent, in ascending order of the keys; undefined means that it has sent none. */
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

/** Returns the set that is assigned to a target or installed on it; undefined means that there is none. */
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

const demanded = (ifMatch: IfMatch) => (ifMatch === undefined ? {} : { ifRevisions: [...ifMatch] });

/** Keeps only the members that are given, because a proto field that is undefined would count as set. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
