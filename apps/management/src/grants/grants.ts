import type { PermissionGrant, PermissionView } from "@harrier/contracts";
import { maxTargetTypes } from "@harrier/contracts";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { allPermissions, isTargetRelated } from "../identity/permissions.ts";

/** This is what a user or a role may do. A permission stands in one of the two members only. */
export interface Grants {
  /** These permissions hold without restriction. */
  permissions: readonly string[];
  /** These permissions are restricted to the listed target types; an empty list allows no target. */
  scoped: Readonly<Record<string, readonly number[]>>;
}

export const noGrants: Grants = { permissions: [], scoped: {} };

/** Returns the names of all permissions held, in the order in which the interface lists them. */
export function namesOf({ permissions, scoped }: Grants): string[] {
  return allPermissions.filter((name) => permissions.includes(name) || Object.hasOwn(scoped, name));
}

/** Returns the objects of all permissions held (spec 001 §2.8), in the same order. */
export function permissionsOf(grants: Grants): PermissionView[] {
  return namesOf(grants).map((name) => permissionOf(grants, name));
}

export function permissionOf({ scoped }: Grants, permission: string): PermissionView {
  return { permission, targetTypeScopes: Object.hasOwn(scoped, permission) ? [...(scoped[permission] ?? [])] : null };
}

/** Returns grants of exactly these permissions. */
export function replaced(granted: readonly PermissionGrant[]): Grants {
  checkNames(granted.map(({ permission }) => permission));
  const restricted = granted.filter((grant) => grant.targetTypeScopes !== undefined);
  for (const { permission } of restricted) checkTargetRelated(permission);
  return {
    permissions: granted.filter((grant) => grant.targetTypeScopes === undefined).map(({ permission }) => permission),
    scoped: Object.fromEntries(restricted.map(({ permission, targetTypeScopes }) => [permission, targetTypeScopes ?? []])),
  };
}

/** Adds these permissions without restriction; a permission that was restricted no longer is (spec 001 §4.7). */
export function withNames({ permissions, scoped }: Grants, names: readonly string[]): Grants {
  checkNames(names);
  const kept = Object.entries(scoped).filter(([name]) => !names.includes(name));
  return { permissions: [...new Set([...permissions, ...names])], scoped: Object.fromEntries(kept) };
}

/** Removes one permission, which must be held. */
export function withoutName(grants: Grants, name: string): Grants {
  checkHeld(grants, name);
  const { [name]: _gone, ...scoped } = grants.scoped;
  return { permissions: grants.permissions.filter((held) => held !== name), scoped };
}

/** Changes the restriction of one permission; `null` stands for no restriction. */
export function withScopes(grants: Grants, name: string, change: (held: readonly number[] | null) => readonly number[] | null): Grants {
  checkHeld(grants, name);
  checkTargetRelated(name);
  const next = change(grants.scoped[name] ?? null);
  const rest = withoutName(grants, name);
  if (next === null) return { ...rest, permissions: [...rest.permissions, name] };
  if (next.length > maxTargetTypes) {
    throw new HarrierError("quotaTooManyEntries", `A permission is restricted to ${maxTargetTypes} target types at most.`);
  }
  return { ...rest, scoped: { ...rest.scoped, [name]: next } };
}

/** Returns everything that any of these grants allows: no restriction wins over one, and two restrictions together allow the target types of both. */
export function merged(all: readonly Grants[]): Grants {
  const permissions = [...new Set(all.flatMap((grants) => grants.permissions))];
  const scoped = new Map<string, Set<number>>();
  for (const [name, types] of all.flatMap((grants) => Object.entries(grants.scoped))) {
    if (!permissions.includes(name)) scoped.set(name, new Set([...(scoped.get(name) ?? []), ...types]));
  }
  return { permissions, scoped: Object.fromEntries([...scoped].map(([name, types]) => [name, [...types]])) };
}

function checkNames(names: readonly string[]): void {
  const unknown = names.find((name) => !allPermissions.includes(name));
  if (unknown !== undefined) throw new HarrierError("constraintViolation", `There is no permission ${unknown}.`);
}

function checkHeld(grants: Grants, name: string): void {
  if (!namesOf(grants).includes(name)) throw entityNotFound("Permission", name);
}

function checkTargetRelated(name: string): void {
  if (!isTargetRelated(name)) throw new HarrierError("constraintViolation", `${name} is not about targets: it has no target types.`);
}
