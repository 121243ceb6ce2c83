import { type Database, inTransaction, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, metadataNotFound } from "@harrier/errors";
import { type IfMatch, requireRevision } from "@harrier/query";
import type { Actor } from "@harrier/rpc";
import { revisionOfContent } from "@harrier/service";
import { type OwnedQuota, tooManyOwned } from "../quotas/limits.ts";
import { type MetadataRow, type MetadataStatements, moduleMetadataStatements, setMetadataStatements } from "./metadata.sql.ts";

interface Deps {
  db: Database;
}

/** This is the owner of metadata: modules and sets differ in their tables, in their limit, and in that sets can be invalid. */
export interface MetadataOwner {
  entity: "SoftwareModule" | "DistributionSet";
  quota: OwnedQuota;
  statements: MetadataStatements;
}

export const ofModules: MetadataOwner = {
  entity: "SoftwareModule",
  quota: "METADATA_PER_SOFTWARE_MODULE_MAX_COUNT",
  statements: moduleMetadataStatements,
};
export const ofSets: MetadataOwner = {
  entity: "DistributionSet",
  quota: "METADATA_PER_DISTRIBUTION_SET_MAX_COUNT",
  statements: setMetadataStatements,
};

/** This is a new entry; `value` may be missing (contract management.md §1.6). */
export interface NewEntry {
  key: string;
  value?: string | undefined;
  targetVisible?: boolean | undefined;
}

/** This names one entry of one owner. */
export interface EntryKey {
  owner: number;
  key: string;
}

/**
 * Adds all entries or none. A key that exists already is refused (contract management.md §4.1, §4.2), or overwritten in the dialect of
 * hawkBit 1.x (§11), where the last of several entries of one key counts.
 */
export async function createMetadata(
  deps: Deps,
  of: MetadataOwner,
  { tenantId, subject }: Actor,
  { owner, entries: given, overwrite = false }: { owner: number; entries: readonly NewEntry[]; overwrite?: boolean },
): Promise<MetadataRow[]> {
  const entries = overwrite ? lastOfEach(given) : given;
  await inTransaction(deps.db.pool, async (tx) => {
    const state = await runOne(tx, of.statements.lock, [tenantId, owner]);
    if (state === undefined) throw entityNotFound(of.entity, owner);
    checkOpen(of, state);
    if (entries.length === 0) return;
    const write = overwrite ? of.statements.upsert : of.statements.insert;
    const added = await runOne(tx, write, [tenantId, owner, JSON.stringify(entries), subject]);
    if (!added?.stored) throw tooManyOwned(of.quota, added?.max ?? 0, { id: owner, added: entries.length });
  });
  return entries.map(({ value = null, ...entry }) => ({ ...entry, value }));
}

export function lastOfEach<Entry extends { key: string }>(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [entry.key, entry])).values()];
}

/** Returns one entry (spec 001 §4.1, §4.4). */
export async function getMetadata(deps: Deps, of: MetadataOwner, tenantId: number, { owner, key }: EntryKey): Promise<MetadataRow> {
  const row = await runOne(deps.db.pool, of.statements.find, [tenantId, owner, key]);
  if (row === undefined) throw entityNotFound(of.entity, owner);
  if (row.key === null) throw metadataNotFound(of.entity, owner, key);
  return { ...row, key: row.key };
}

/** Changes one entry; an unknown key is not added (contract management.md §4.1, §4.2), unless `create` says so, as hawkBit 1.x does (§11). */
export async function changeMetadata(
  deps: Deps,
  of: MetadataOwner,
  actor: Actor,
  { at, change, create = false, ifMatch }: { at: EntryKey; change: Omit<NewEntry, "key">; create?: boolean; ifMatch?: IfMatch },
): Promise<MetadataRow> {
  const values: [number, number, string, string, string] = [actor.tenantId, at.owner, at.key, JSON.stringify(change), actor.subject];
  // Who writes metadata of the owner has it locked, so the entry stays as it is read behind the lock.
  const changeRead = () =>
    inTransaction(deps.db.pool, async (tx) => {
      await runOne(tx, of.statements.lock, [actor.tenantId, at.owner]);
      const entry = await runOne(tx, of.statements.find, [actor.tenantId, at.owner, at.key]);
      if (entry !== undefined && entry.key !== null) requireRevision(ifMatch, { revision: revisionOfMetadata(entry) });
      return runOne(tx, of.statements.update, values);
    });
  const changed = ifMatch === undefined ? await runOne(deps.db.pool, of.statements.update, values) : await changeRead();
  if (changed !== undefined) return changed;
  if (!create || ifMatch !== undefined) return refuse(deps, of, actor.tenantId, at);
  await createMetadata(deps, of, actor, { owner: at.owner, entries: [{ ...change, key: at.key }], overwrite: true });
  return { ...change, key: at.key, value: change.value ?? null };
}

/** Stands for the revision of an entry (ADR 40). */
export function revisionOfMetadata({ value, targetVisible = false }: Pick<MetadataRow, "value" | "targetVisible">): number {
  return revisionOfContent(value, targetVisible);
}

/** Deletes one entry. */
export async function removeMetadata(deps: Deps, of: MetadataOwner, actor: Actor, at: EntryKey): Promise<void> {
  const gone = await runOne(deps.db.pool, of.statements.remove, [actor.tenantId, at.owner, at.key, actor.subject]);
  if (gone === undefined) await refuse(deps, of, actor.tenantId, at);
}

/** Throws why nothing was changed. */
async function refuse(deps: Deps, of: MetadataOwner, tenantId: number, { owner, key }: EntryKey): Promise<never> {
  const row = await runOne(deps.db.pool, of.statements.find, [tenantId, owner, key]);
  if (row === undefined) throw entityNotFound(of.entity, owner);
  checkOpen(of, row);
  if (row.key === null) throw metadataNotFound(of.entity, owner, key);
  throw new HarrierError("concurrentModification");
}

/**
 * Checks that metadata may be changed: that of a set that is deleted or invalid may not be (contract management.md §5.2), that of a module
 * always may.
 */
function checkOpen(of: MetadataOwner, owner: { deleted: boolean; valid: boolean }): void {
  if (of.entity !== "DistributionSet") return;
  if (owner.deleted) throw new HarrierError("deleted", "The distribution set is deleted.");
  if (!owner.valid) throw new HarrierError("setInvalid");
}
