import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Client, OutCall } from "@harrier/rpc";
import { type Page, type PageQuery, readPage } from "../lists/read-page.ts";
import { visibleTypes } from "../matching/scope.ts";
import { loadSettings, queryMacros, type TenantSettings } from "../settings/settings.ts";
import { findGroup, type GroupRow, groupsSource, membersSource, type TargetRow } from "./groups.sql.ts";

export interface GroupDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "readSecurityTokens">;
  now: () => number;
}

/** One group; a group of another rollout is unknown (spec 001 §4.6). One round trip. */
export async function getGroup(deps: Pick<GroupDeps, "db">, tenantId: number, rolloutId: number, groupId: number): Promise<GroupRow> {
  const row = await runOne(deps.db.pool, findGroup, [tenantId, rolloutId, groupId]);
  if (!row) throw entityNotFound("RolloutGroup", groupId);
  return row;
}

/** A page of groups (spec 001 §4.6). One round trip. */
export async function listGroups(
  deps: Pick<GroupDeps, "db" | "now">,
  tenantId: number,
  rolloutId: number,
  query: PageQuery,
): Promise<Page<GroupRow>> {
  const found = await readPage<GroupRow>(deps.db.pool, groupsSource(tenantId, rolloutId), query, { now: deps.now() });
  if (!found.known) throw entityNotFound("Rollout", rolloutId);
  return found;
}

export interface MembersPage extends Page<TargetRow> {
  settings: TenantSettings;
  /** By controllerId; empty unless the caller may read them. */
  tokens: Readonly<Record<string, string>>;
  now: number;
}

/** A page of the targets of a group (spec 001 §4.6). Two round trips, and one call where the caller may see security tokens. */
export async function listMembers(
  deps: GroupDeps,
  call: OutCall,
  group: { rolloutId: number; groupId: number },
  query: PageQuery,
): Promise<MembersPage> {
  const { tenantId, permissions } = call.principal;
  const now = deps.now();
  const settings = await loadSettings(deps.db.pool, tenantId);
  const clock = { now, macros: queryMacros(settings, now) };
  const found = await readPage<TargetRow>(deps.db.pool, membersSource(tenantId, group, visibleTypes(call.principal)), query, clock);
  if (!found.known) throw entityNotFound("Rollout", group.rolloutId);
  const controllerIds = permissions.includes("READ_TARGET_SECURITY_TOKEN") ? found.rows.map((row) => row.controllerId) : [];
  const tokens = controllerIds.length > 0 ? (await deps.targets.readSecurityTokens({ controllerIds }, call)).tokens : {};
  return { ...found, settings, tokens, now };
}
