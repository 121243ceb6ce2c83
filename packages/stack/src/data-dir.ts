import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AuditedService, auditedServices, type DatabaseService, databaseServices, type RolePasswords } from "@harrier/db";
import { RunFile } from "./run-file.ts";
import { keyPairs, type Pair } from "./services.ts";
import { StartError } from "./start-error.ts";

/** The secrets of one installation. They are created once; with another secret key the stored target tokens could not be read any more. */
export interface Secrets {
  /** It belongs to the superuser of the embedded PostgreSQL. */
  databasePassword: string;
  rolePasswords: RolePasswords;
  /** One key per pair of caller and audience, in base64. */
  identityKeys: Readonly<Record<Pair, string>>;
  /** An AES-256 key in base64. */
  secretKey: string;
  /**
   * One key in base64 for each service that keeps an audit trail, with which it signs what it sees of the others' trails. Older folders get theirs
   * at the next start.
   */
  auditKeys?: Readonly<Record<AuditedService, string>>;
}

export interface DataDir {
  readonly path: string;
  readonly secrets: Secrets;
  /** They are recorded so that the next start can end them if this process is killed. */
  recordChildren(pids: readonly number[]): void;
  release(): void;
}

function writeSecret(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file); // it is one step, because a half-written key would make the data useless
}

const base64 = (bytes: number) => randomBytes(bytes).toString("base64");
const password = () => randomBytes(18).toString("base64url");

const each = <Key extends string>(keys: readonly Key[], make: () => string) =>
  Object.fromEntries(keys.map((key) => [key, make()])) as Record<Key, string>;
const makeAuditKeys = () => each<AuditedService>(auditedServices, () => base64(32));

function makeSecrets(): Secrets {
  return {
    databasePassword: password(),
    rolePasswords: each<DatabaseService>(databaseServices, password),
    identityKeys: each<Pair>(keyPairs, () => base64(32)),
    secretKey: base64(32),
    auditKeys: makeAuditKeys(),
  };
}

function readSecrets(dir: string): Secrets {
  const file = join(dir, "secrets.json");
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Secrets) : undefined;
  const secrets = kept === undefined ? makeSecrets() : withAuditKeys(withAllPairs(kept));
  if (secrets !== kept) writeSecret(file, `${JSON.stringify(secrets, undefined, 2)}\n`);
  return secrets;
}

/** Completes the keys of an older folder, which has keys of other pairs or a key per audience: missing keys are created, and unused ones removed. */
function withAllPairs(kept: Secrets): Secrets {
  const had: Readonly<Record<string, string>> = kept.identityKeys;
  if (keyPairs.length === Object.keys(had).length && keyPairs.every((pair) => had[pair] !== undefined)) return kept;
  const made = each<Pair>(keyPairs, () => base64(32));
  for (const pair of keyPairs) made[pair] = had[pair] ?? made[pair];
  return { ...kept, identityKeys: made };
}

/** Completes a folder from before the audit trail was signed. */
function withAuditKeys(kept: Secrets): Secrets {
  return kept.auditKeys === undefined ? { ...kept, auditKeys: makeAuditKeys() } : kept;
}

/** Answers the admin's password: the given one (kept, so that a later start without the setting stays the same), the kept one, or a new one. */
export function adminPassword(dir: string, given: string | undefined): string {
  const file = join(dir, "admin-password");
  const kept = existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  const chosen = given ?? (kept || password());
  if (chosen !== kept) writeSecret(file, `${chosen}\n`);
  return chosen;
}

const runFileOf = (dir: string) => new RunFile(join(dir, "run.json"), dir);

/**
 * Refuses a folder that is not ours or is in use, and changes nothing in it. Ends processes that a killed start left running there, because they
 * may still hold the gateway's port.
 */
export async function checkDataDir(path: string): Promise<void> {
  await usable(path, async () => {
    if (!existsSync(path)) return;
    refuseForeign(path);
    await runFileOf(path).vacate();
  });
}

/** Creates the folder, or takes an empty one or one of ours, for this process alone. Ends processes that a killed start left running there. */
export async function openDataDir(path: string): Promise<DataDir> {
  return await usable(path, async () => {
    makeFolder(path);
    refuseForeign(path);
    const runFile = runFileOf(path);
    await runFile.take();
    return {
      path,
      secrets: readSecrets(path),
      recordChildren: (pids) => runFile.recordChildren(pids),
      release: () => runFile.release(),
    };
  });
}

/** Turns an error of the system into one line that names the setting. */
async function usable<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new StartError(`HARRIER_DATA_DIR: cannot use ${path} (${code})`);
  }
}

/** Creates a folder step by step, because the recursive `mkdirSync` never returns if a folder exists and none can be created in it (/proc). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // another start was faster
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** A start that is killed early may leave these files. */
const beforeSecrets = /^(run\.json(\.removal)*(\.new)?|secrets\.json\.new)$/;

/** Refuses a folder without our secrets that contains files, because we do not mix with others. */
function refuseForeign(path: string): void {
  if (readdirSync(path).every((name) => beforeSecrets.test(name)) || hasSecrets(path)) return;
  throw new StartError(`HARRIER_DATA_DIR: ${path} holds files that are not Harrier's: give an empty or a new folder`);
}

function hasSecrets(path: string): boolean {
  try {
    const { secretKey, identityKeys } = JSON.parse(readFileSync(join(path, "secrets.json"), "utf8")) as Partial<Secrets>;
    return typeof secretKey === "string" && typeof identityKeys === "object";
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
