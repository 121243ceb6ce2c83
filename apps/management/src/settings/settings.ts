import { minTokenLength, noPolicy, type Surface } from "@harrier/contracts";
import { type Database, digest, inTransaction, type Queryable, run, runCount, runOne, type SecretBox } from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import { type AuditRow, type IfMatch, requireRevision } from "@harrier/query";
import { revisionOfContent } from "@harrier/service";
import { findPolicyByName } from "../safety-policies/safety-policies.sql.ts";
import { checkChange, checkValue, findKey } from "./check-settings.ts";
import { defaultSetTypeKey, type SettingValue, settingKeys } from "./keys.ts";
import {
  deleteSettings,
  lockTenant,
  readDefaultSetType,
  readSettings,
  readSeveralAssignments,
  recordTenantChange,
  type SettingRow,
  setDefaultSetType,
  writeSettings,
} from "./settings.sql.ts";

/** Says whether the tenant allows several open actions of a target (contract rollouts.md §6.9). It costs one round trip. */
export async function allowsSeveralAssignments(db: Queryable, tenantId: number): Promise<boolean> {
  return (await runOne(db, readSeveralAssignments, [tenantId]))?.on ?? false;
}

export interface SettingsDeps {
  db: Database;
  secrets: SecretBox;
}

/** This is the user who changes or reads settings. */
export interface Actor {
  tenantId: number;
  subject: string;
  permissions: readonly string[];
}

/** This is one setting as it is in force; without `audit` the default applies (contract management.md §4.11). */
export interface Setting {
  key: string;
  value: SettingValue;
  global: boolean;
  audit?: AuditRow;
}

/** Lists all settings that the caller may see, in the order of the table. */
export async function listSettings(deps: SettingsDeps, caller: Actor): Promise<Setting[]> {
  const [rows, setType] = await Promise.all([
    run(deps.db.pool, readSettings, [caller.tenantId, null]),
    runOne(deps.db.pool, readDefaultSetType, [caller.tenantId]),
  ]);
  return visibleTo(deps, caller, rows, setType?.id ?? 0);
}

function visibleTo(deps: SettingsDeps, caller: Actor, rows: readonly SettingRow[], setTypeId: number): Setting[] {
  const stored = new Map(rows.map((row) => [row.key, row]));
  const visible = Object.keys(settingKeys).filter((key) => mayRead(caller, key));
  return [...visible.map((key) => toSetting(deps, key, stored.get(key))), defaultSetType(setTypeId)];
}

/** Returns one setting (spec 001 §4.7). A secret is refused without its permission. */
export async function getSetting(deps: SettingsDeps, caller: Actor, key: string): Promise<Setting> {
  if (key === defaultSetTypeKey) return defaultSetType((await runOne(deps.db.pool, readDefaultSetType, [caller.tenantId]))?.id ?? 0);
  findKey(key);
  if (!mayRead(caller, key)) throw lacksPermission(["READ_GATEWAY_SECURITY_TOKEN"]);
  return toSetting(deps, key, await runOne(deps.db.pool, readSettings, [caller.tenantId, [key]]));
}

/**
 * Stores values, all or none (contract management.md §8.2). A change of how devices or gateways sign in is logged in the same transaction,
 * so that every gateway soon forgets what it has verified. `read` says what the caller has read before, one setting or all of them: with another
 * revision than `ifMatch` has it is entityChanged.
 */
export async function putSettings(
  deps: SettingsDeps,
  caller: Actor,
  values: ReadonlyMap<string, unknown>,
  read: { one?: string; ifMatch?: IfMatch } = {},
): Promise<Setting[]> {
  const setTypeId = checkSetTypeId(values.get(defaultSetTypeKey), values.has(defaultSetTypeKey));
  const changes = new Map([...values].filter(([key]) => key !== defaultSetTypeKey).map(([key, value]) => [key, checkValue(key, value)]));
  return inTransaction(deps.db.pool, async (tx) => {
    await runOne(tx, lockTenant, [caller.tenantId]);
    if (read.ifMatch !== undefined) await requireUnchanged(deps, tx, caller, { one: read.one, ifMatch: read.ifMatch });
    const changed = changes.size === 0 ? [] : await write(deps, tx, caller, changes);
    if (setTypeId === undefined) return changed;
    const stored = await runOne(tx, setDefaultSetType, [caller.tenantId, setTypeId]);
    if (stored === undefined) throw entityNotFound("DistributionSetType", setTypeId);
    return [...changed, defaultSetType(stored.id)];
  });
}

/** Stands for the revision of a setting: one that is reset and set again is another one. */
export function revisionOfSetting({ value, audit }: Setting): number {
  return revisionOfContent(value, audit?.lastModifiedAt);
}

/** Stands for the revision of all settings that a caller sees. */
export function revisionOfSettings(settings: readonly Setting[]): number {
  return revisionOfContent(...settings.map(({ key, value, audit }) => [key, value, audit?.lastModifiedAt]));
}

/**
 * A caller has read one setting, or all of them. The tenant is locked, so they stay as they are read here. A secret that the caller may not read is no
 * part of the answer to a guess. @throws entityChanged, insufficientPermission
 */
async function requireUnchanged(
  deps: SettingsDeps,
  tx: Queryable,
  caller: Actor,
  { one, ifMatch }: { one: string | undefined; ifMatch: IfMatch },
): Promise<void> {
  if (one !== undefined && one !== defaultSetTypeKey && !mayRead(caller, one)) throw lacksPermission(["READ_GATEWAY_SECURITY_TOKEN"]);
  const rows = await run(tx, readSettings, [caller.tenantId, null]);
  const setType = await runOne(tx, readDefaultSetType, [caller.tenantId]);
  if (one === undefined) return requireRevision(ifMatch, { revision: revisionOfSettings(visibleTo(deps, caller, rows, setType?.id ?? 0)) });
  const row = rows.find(({ key }) => key === one);
  const setting = one === defaultSetTypeKey ? defaultSetType(setType?.id ?? 0) : toSetting(deps, one, row);
  requireRevision(ifMatch, { revision: revisionOfSetting(setting) });
}

/** Resets a setting to its default. `default.ds.type` has no default: the answer is 400, in the dialect of hawkBit 1.x 404. */
export async function resetSetting(deps: SettingsDeps, caller: Actor, key: string, surface: Surface = "spec"): Promise<void> {
  if (key === defaultSetTypeKey) {
    if (surface === "rest") throw entityNotFound("TenantConfiguration", key);
    throw new HarrierError("constraintViolation", `The setting '${key}' has no default that it could be reset to.`);
  }
  const { default: initial, signIn } = findKey(key);
  await inTransaction(deps.db.pool, async (tx) => {
    await runOne(tx, lockTenant, [caller.tenantId]);
    const before = await currentValues(tx, caller.tenantId);
    checkChange(before, (name) => (name === key ? initial : before(name)));
    const deleted = await runCount(tx, deleteSettings, [caller.tenantId, [key]]);
    if (signIn && deleted > 0) await runCount(tx, recordTenantChange, [caller.tenantId]);
  });
}

/** Refuses new secrets that are too short. A short secret is accepted if it is the stored one, because clients send back what they read. */
async function checkSecrets(deps: SettingsDeps, tx: Queryable, tenantId: number, changes: Map<string, SettingValue>): Promise<void> {
  for (const [key, value] of changes) {
    if (settingKeys[key]?.secret === undefined || value === "" || String(value).length >= minTokenLength) continue;
    const stored = toSetting(deps, key, await runOne(tx, readSettings, [tenantId, [key]]));
    if (stored.value === value) continue;
    throw new HarrierError("configValueInvalid", `The value of '${key}' must have at least ${minTokenLength} characters.`);
  }
}

/** The policy of those that name none must be there, or every rollout would be refused. The tenant is locked, so it stays. @throws configValueInvalid */
async function checkDefaultPolicy(tx: Queryable, tenantId: number, changes: Map<string, SettingValue>): Promise<void> {
  const name = String(changes.get("safety.default") ?? "");
  if (name === "" || name.toLowerCase() === noPolicy) return;
  if ((await runOne(tx, findPolicyByName, [tenantId, name])) !== undefined) return;
  throw new HarrierError("configValueInvalid", "The value of 'safety.default' must be empty or the name of a safety policy.");
}

async function write(deps: SettingsDeps, tx: Queryable, caller: Actor, changes: Map<string, SettingValue>): Promise<Setting[]> {
  await checkSecrets(deps, tx, caller.tenantId, changes);
  await checkDefaultPolicy(tx, caller.tenantId, changes);
  const before = await currentValues(tx, caller.tenantId);
  checkChange(before, (key) => changes.get(key) ?? before(key));
  const entries = [...changes].map(([key, value]) => toEntry(deps.secrets, key, value));
  const rows = await run(tx, writeSettings, [caller.tenantId, JSON.stringify(entries), caller.subject]);
  if ([...changes.keys()].some((key) => settingKeys[key]?.signIn)) await runCount(tx, recordTenantChange, [caller.tenantId]);
  const stored = new Map(rows.map((row) => [row.key, row]));
  return [...changes.keys()].map((key) => toSetting(deps, key, stored.get(key)));
}

async function currentValues(tx: Queryable, tenantId: number): Promise<(key: string) => SettingValue> {
  const stored = new Map((await run(tx, readSettings, [tenantId, null])).map((row) => [row.key, row.value as SettingValue | null]));
  return (key) => stored.get(key) ?? settingKeys[key]?.default ?? "";
}

function toEntry(secrets: SecretBox, key: string, value: SettingValue): Record<string, unknown> {
  if (settingKeys[key]?.secret === undefined) return { key, value };
  // An empty key would let in everyone who sends none, so it is stored as a value that is no credential's digest.
  if (value === "") return { key, value };
  return { key, digest: digest(String(value)).toString("hex"), cipher: secrets.seal(String(value)).toString("hex") };
}

function toSetting(deps: SettingsDeps, key: string, row: SettingRow | undefined): Setting {
  const initial = settingKeys[key]?.default ?? "";
  if (row === undefined) return { key, value: initial, global: true };
  const { createdBy, createdAt, lastModifiedBy, lastModifiedAt } = row;
  const value = row.cipher === null ? (row.value as SettingValue) : deps.secrets.open(row.cipher);
  return { key, value, global: false, audit: { createdBy, createdAt, lastModifiedBy, lastModifiedAt } };
}

const defaultSetType = (id: number): Setting => ({ key: defaultSetTypeKey, value: id, global: false });

function checkSetTypeId(value: unknown, given: boolean): number | undefined {
  if (!given) return undefined;
  if (value === null) throw new HarrierError("bodyNotReadable");
  if (!Number.isSafeInteger(value))
    throw new HarrierError("configValueInvalid", `The value of '${defaultSetTypeKey}' must be a whole number.`);
  return value as number;
}

function mayRead(caller: Actor, key: string): boolean {
  const secret = settingKeys[key]?.secret;
  return secret === undefined || caller.permissions.includes(secret.permission);
}
