import { type Database, runOne } from "@harrier/db";
import { entityNotFound, metadataNotFound } from "@harrier/errors";
import { type IfMatch, scopeOf } from "@harrier/query";
import type { Client, Identity } from "@harrier/rpc";
import { newCommandId } from "../targets/assignment.ts";
import type { Actor } from "../targets/targets.ts";
import type { MetadataRow } from "./metadata.sql.ts";
import { lastOfEach, type NewEntry } from "./metadata.ts";
import { findTargetMetadata } from "./target-metadata.sql.ts";

export interface TargetMetadataDeps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "addMetadata" | "changeMetadata" | "removeMetadata">;
}

/** This names one entry of one target. */
export interface TargetEntryKey {
  controllerId: string;
  key: string;
}

/** Adds all entries or none; controller writes them (contract management.md §4.6), and overwrites existing ones where `overwrite` says so (§11). */
export async function createTargetMetadata(
  deps: TargetMetadataDeps,
  actor: Actor,
  { controllerId, entries: given, overwrite = false }: { controllerId: string; entries: readonly NewEntry[]; overwrite?: boolean },
): Promise<MetadataRow[]> {
  const entries = overwrite ? lastOfEach(given) : given;
  const requested = entries.map(({ key, value }) => ({ key, ...(value === undefined ? {} : { value }) }));
  await deps.targets.addMetadata({ controllerId, entries: requested, overwrite }, actor.out(newCommandId("add-metadata")));
  return entries.map(({ key, value = null }) => ({ key, value }));
}

/** Returns one entry; for the caller, a target outside their scope does not exist. */
export async function getTargetMetadata(
  deps: Pick<TargetMetadataDeps, "db">,
  identity: Identity,
  { controllerId, key }: TargetEntryKey,
): Promise<MetadataRow> {
  const row = await runOne(deps.db.pool, findTargetMetadata, [identity.tenantId, scopeOf(identity, "READ_TARGET"), controllerId, key]);
  if (row === undefined) throw entityNotFound("Target", controllerId);
  if (row.key === null) throw metadataNotFound("Target", controllerId, key);
  return row;
}

/** Changes one entry; an unknown key is not added, unless `create` says so, as hawkBit 1.x does (contract management.md §11). */
export async function changeTargetMetadata(
  deps: TargetMetadataDeps,
  actor: Actor,
  {
    at,
    change,
    create = false,
    ifMatch,
  }: { at: TargetEntryKey; change: { value?: string | undefined }; create?: boolean; ifMatch?: IfMatch },
): Promise<MetadataRow> {
  if (create && change.value !== undefined && ifMatch === undefined) {
    const entries = [{ key: at.key, value: change.value }];
    await createTargetMetadata(deps, actor, { controllerId: at.controllerId, entries, overwrite: true });
    return { key: at.key, value: change.value };
  }
  const given = change.value === undefined ? {} : { value: change.value };
  const { value = null } = await deps.targets.changeMetadata({ ...at, ...given, ifRevisions: [...(ifMatch ?? [])] }, actor.out());
  return { key: at.key, value };
}

/** Deletes one entry. */
export async function removeTargetMetadata(deps: Pick<TargetMetadataDeps, "targets">, actor: Actor, at: TargetEntryKey): Promise<void> {
  await deps.targets.removeMetadata(at, actor.out());
}
