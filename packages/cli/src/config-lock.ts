import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { configPath } from "./config-file.ts";

const lookMs = 100;
/** Longer than a refresh of a token may take: a lock that is as old belongs to a command that was killed. */
const staleMs = 90_000;

/** Runs what reads and replaces the configuration while no other command does, on this machine and by this user. */
export async function withConfigLocked<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const path = `${configPath()}.lock`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!taken(path)) await sleep(lookMs, undefined, { signal });
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function taken(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (isStale(path)) rmSync(path, { force: true });
    return false;
  }
}

function isStale(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > staleMs;
  } catch {
    return false; // it is gone meanwhile
  }
}
