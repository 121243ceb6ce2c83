import { type SpawnOptions, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Things that take long to make are kept here between runs and checkouts. */
export const cacheDir = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "harrier");

const beingMade = new Map<string, Promise<string>>();

/**
 * Answers the path in the cache. `make` fills a separate folder beside it, which is moved there in one step: an interrupted run leaves nothing
 * half-done, and of two processes that make the same at the same time the first wins. Within one process it is made once.
 */
export function cached(path: string, make: (dir: string) => Promise<string>): Promise<string> {
  const making = beingMade.get(path) ?? fill(path, make).finally(() => beingMade.delete(path));
  beingMade.set(path, making);
  return making;
}

async function fill(path: string, make: (dir: string) => Promise<string>): Promise<string> {
  const target = join(cacheDir, path);
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  try {
    const made = await make(work);
    try {
      renameSync(made, target);
    } catch (error) {
      if (!existsSync(target)) throw error;
    }
    return target;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Runs an installer; its output is shown only when it fails. */
export function install(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data: Buffer) => {
        output = (output + data.toString()).slice(-4000);
      });
    }
    child.once("error", (error) => reject(new Error(`${command} is needed for this test: ${error.message}`)));
    child.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(" ")} failed (${code}):\n${output}`));
    });
  });
}
