import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { environment } from "./environment.ts";
import { ExitError, exit } from "./exit.ts";

/** How a context signs in. A password is never stored: it comes from HARRIER_PASSWORD or is asked for. */
export interface ContextAuth {
  readonly user?: string;
  /** An access token, with its end in epoch milliseconds if that is known. */
  readonly token?: string;
  readonly expiresAt?: number;
  /** The name of a variable that holds an access token. */
  readonly "token-env"?: string;
}

export interface Context {
  readonly server: string;
  readonly auth?: ContextAuth;
}

export interface ConfigFile {
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

export function configPath(): string {
  return join(environment.configHome || join(environment.home, ".config"), "harrier", "config.yaml");
}

/** Reads the file; none is an empty one. One that others may read is refused, because it may hold a token. */
export async function readConfig(): Promise<ConfigFile> {
  const path = configPath();
  let mode: number;
  try {
    mode = statSync(path).mode;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { contexts: {} };
    throw error;
  }
  // Windows has no such bits
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new ExitError(exit.signIn, `${path} may be read by others (mode ${(mode & 0o777).toString(8)}): chmod 600 it first`);
  }
  const { parse } = await import("yaml");
  const read = parse(readFileSync(path, "utf8")) as Partial<ConfigFile> | null;
  return { ...read, contexts: read?.contexts ?? {} };
}

/** Replaces the file as a whole, so that a reader sees the old or the new one. */
export async function writeConfig(config: ConfigFile): Promise<void> {
  const path = configPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  const { stringify } = await import("yaml");
  writeFileSync(next, stringify(config), { mode: 0o600 });
  renameSync(next, path);
}
