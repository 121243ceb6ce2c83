import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DatabaseService, databaseServices, type RolePasswords } from "@harrier/db";
import { isAlive, signal, startOf, waitForEnd } from "./processes.ts";
import { type ServiceName, serviceNames } from "./services.ts";
import { StartError } from "./start-error.ts";

/** What one installation keeps secret. Made once; with another secret key the stored target tokens could not be read any more. */
export interface Secrets {
  /** The superuser of the embedded PostgreSQL. */
  databasePassword: string;
  rolePasswords: RolePasswords;
  /** One per audience, base64. */
  identityKeys: Readonly<Record<ServiceName, string>>;
  /** AES-256 key, base64. */
  secretKey: string;
}

interface ProcessId {
  pid: number;
  start: string | undefined;
}

interface RunFile extends ProcessId {
  children: ProcessId[];
}

export interface DataDir {
  readonly path: string;
  readonly secrets: Secrets;
  /** Noted down so that the next start can end them, should this process be killed. */
  noteChildren(pids: readonly number[]): void;
  release(): void;
}

function writeSecret(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file); // in one step: a half-written key would be the end of the data
}

const base64 = (bytes: number) => randomBytes(bytes).toString("base64");
const password = () => randomBytes(18).toString("base64url");

function makeSecrets(): Secrets {
  const each = <Key extends string>(keys: readonly Key[], make: () => string) =>
    Object.fromEntries(keys.map((key) => [key, make()])) as Record<Key, string>;
  return {
    databasePassword: password(),
    rolePasswords: each<DatabaseService>(databaseServices, password),
    identityKeys: each<ServiceName>(serviceNames, () => base64(32)),
    secretKey: base64(32),
  };
}

function readSecrets(dir: string): Secrets {
  const file = join(dir, "secrets.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Secrets;
  const secrets = makeSecrets();
  writeSecret(file, `${JSON.stringify(secrets, undefined, 2)}\n`);
  return secrets;
}

/** The admin's password: the given one (kept, so that a later start without the setting stays the same), the kept one, or a new one. */
export function adminPassword(dir: string, given: string | undefined): string {
  const file = join(dir, "admin-password");
  const kept = existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  const chosen = given ?? (kept || password());
  if (chosen !== kept) writeSecret(file, `${chosen}\n`);
  return chosen;
}

const isRunning = ({ pid, start }: ProcessId): boolean => isAlive(pid) && startOf(pid) === start;

/** Makes the folder and takes it for this process alone. Ends what a killed start left running there. */
export async function openDataDir(path: string): Promise<DataDir> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
  } catch (error) {
    throw new StartError(`HARRIER_DATA_DIR: cannot use ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
  const runFile = join(path, "run.json");
  await takeOver(runFile, path);
  const own: ProcessId = { pid: process.pid, start: startOf(process.pid) };
  const note = (children: ProcessId[]) => {
    writeFileSync(`${runFile}.new`, JSON.stringify({ ...own, children } satisfies RunFile));
    renameSync(`${runFile}.new`, runFile);
  };
  note([]);
  return {
    path,
    secrets: readSecrets(path),
    noteChildren: (pids) => note(pids.map((pid) => ({ pid, start: startOf(pid) }))),
    release: () => rmSync(runFile, { force: true }),
  };
}

async function takeOver(runFile: string, path: string): Promise<void> {
  if (!existsSync(runFile)) return;
  let former: RunFile;
  try {
    former = JSON.parse(readFileSync(runFile, "utf8")) as RunFile;
  } catch {
    return; // a file of no use to anyone
  }
  if (isRunning(former)) throw new StartError(`HARRIER_DATA_DIR: ${path} is in use by process ${former.pid}`);
  // they end by themselves when their supervisor is gone (see preload.ts); one that hangs is helped
  const orphans = former.children.filter(isRunning).map(({ pid }) => pid);
  for (const [helped, limitMs] of [
    [undefined, 2_000],
    ["SIGTERM", 6_000],
    ["SIGKILL", 2_000],
  ] as const) {
    if (helped !== undefined) for (const pid of orphans) signal(pid, helped);
    if (await waitForEnd(orphans, limitMs)) return;
  }
}
