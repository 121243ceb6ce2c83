import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { environment } from "./environment.ts";
import { ExitError, exit } from "./exit.ts";

/** How a context signs in. A password is never stored: it comes from HARRIER_PASSWORD or is asked for. */
export interface ContextAuth {
  readonly user?: string;
  /** A session of the command line (`hrs_…`), with its end in epoch milliseconds. */
  readonly session?: string;
  /** An access token, with its end in epoch milliseconds if that is known. */
  readonly token?: string;
  readonly expiresAt?: number;
  /** What gets the next access token of a person who signed in at an issuer. */
  readonly refresh?: { readonly token: string; readonly issuer: string; readonly clientId: string };
  /** An OAuth client, whose secret comes from HARRIER_CLIENT_SECRET. */
  readonly client?: { readonly id: string };
  /** The name of a variable that holds an access token. */
  readonly "token-env"?: string;
}

export interface Context {
  readonly server: string;
  /** The tenant in which the context works, as the server has said at the sign-in. */
  readonly tenant?: string;
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
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { contexts: {} };
    throw error;
  }
  let text: string;
  try {
    // what is looked at is the file that is read, also behind a link, and when somebody puts another one into its place meanwhile
    const { mode, uid } = fstatSync(file);
    // Windows has no such bits
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new ExitError(exit.signIn, `${path} may be read by others (mode ${(mode & 0o777).toString(8)}): chmod 600 it first`);
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new ExitError(exit.signIn, `${path} belongs to somebody else (user ${uid}), who would choose where credentials go`);
    text = readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
  const { parse } = await import("yaml");
  const read = parse(text) as Partial<ConfigFile> | null;
  return { ...read, contexts: read?.contexts ?? {} };
}

/** A file that is kept elsewhere and linked here stays a link. */
function behindLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Replaces the file as a whole, so that a reader sees the old or the new one. */
export async function writeConfig(config: ConfigFile): Promise<void> {
  mkdirSync(dirname(configPath()), { recursive: true, mode: 0o700 });
  const path = behindLinks(configPath());
  const next = `${path}.${process.pid}`;
  const { stringify } = await import("yaml");
  // a leftover, or what somebody has put there, is neither written to nor followed
  rmSync(next, { force: true });
  writeFileSync(next, stringify(config), { mode: 0o600, flag: "wx" });
  renameSync(next, path);
}
