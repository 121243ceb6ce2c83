import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { type ListQuery, type Page, readPage, type TargetRow, targetLists } from "@harrier/query";
import type { Client, OutCall } from "@harrier/rpc";
import { visibleTypes } from "../matching/scope.ts";
import { findGroup, type GroupRow, groupList, memberList } from "./groups.sql.ts";

export interface GroupDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "readSecurityTokens">;
  now: () => number;
}

/** Answers one group, in one round trip; a group of another rollout is unknown (spec 001 §4.6). */
export async function getGroup(deps: Pick<GroupDeps, "db">, tenantId: number, rolloutId: number, groupId: number): Promise<GroupRow> {
  const row = await runOne(deps.db.pool, findGroup, [tenantId, rolloutId, groupId]);
  if (!row) throw entityNotFound("RolloutGroup", groupId);
  return row;
}

/** Answers a page of groups (spec 001 §4.6), in one round trip. */
export async function listGroups(
  deps: Pick<GroupDeps, "db" | "now">,
  tenantId: number,
  rolloutId: number,
  query: ListQuery,
): Promise<Page<GroupRow>> {
  const found = await readPage<GroupRow>({ db: deps.db.pool, now: deps.now }, groupList(tenantId, rolloutId), query);
  if (!found.known) throw entityNotFound("Rollout", rolloutId);
  return found;
}

export interface MembersPage extends Page<TargetRow> {
  /** The security tokens by controllerId; there are none unless the caller may read them. */
  tokens: Readonly<Record<string, string>>;
  now: number;
}

/**
 * Answers a page of the targets of a group (spec 001 §4.6), in one round trip. A query with a macro takes one more, and a caller who may see
 * security tokens takes one call.
 */
export async function listMembers(
  deps: GroupDeps,
  call: OutCall,
  group: { rolloutId: number; groupId: number },
  query: ListQuery,
): Promise<MembersPage> {
  const { tenantId, permissions } = call.principal;
  const now = deps.now();
  const reading = targetLists({ db: deps.db, now: () => now }, tenantId);
  const found = await readPage<TargetRow>(reading, memberList(tenantId, group, visibleTypes(call.principal)), query);
  if (!found.known) throw entityNotFound("Rollout", group.rolloutId);
  const controllerIds = permissions.includes("READ_TARGET_SECURITY_TOKEN") ? found.rows.map((row) => row.controllerId) : [];
  const tokens = controllerIds.length > 0 ? (await deps.targets.readSecurityTokens({ controllerIds }, call)).tokens : {};
  return { ...found, tokens, now };
}
