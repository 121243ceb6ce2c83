import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const onLinux = process.platform === "linux";

/** Whether a process with this id runs (also one that we may not signal). One that has ended and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  // where process 1 never reaps, as in many containers, such a number stays taken for ever
  return !/^[ZX]/.test(stateOf(pid));
}

/** The system's letter for what a process does (R, S, Z, …); empty where it is not told. */
function stateOf(pid: number): string {
  if (!onLinux) return spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? "";
  return statFields(pid)?.[0] ?? "";
}

/** What /proc tells of a process, from the third field on: the second is the command in brackets and may hold blanks. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** When a process began, in the system's own words; with the id it names one process for ever, for ids come again. */
export function startOf(pid: number): string | undefined {
  if (!onLinux) return spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() || undefined;
  return statFields(pid)?.[19]; // field 22
}

/** The processes that work in a folder, among these candidates where the system cannot list them. */
export function processesIn(dir: string, candidates: readonly number[]): number[] {
  if (!onLinux) {
    return candidates.filter((pid) => spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout?.includes(dir));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === dir;
      } catch {
        return false; // it has just ended, or it is someone else's
      }
    });
}

/** Waits until none of them is left; false when some are after `limitMs`. */
export async function waitForEnd(pids: readonly number[], limitMs: number): Promise<boolean> {
  const limit = Date.now() + limitMs;
  while (pids.some(isAlive)) {
    if (Date.now() > limit) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}

/** Sends a signal; a process that has gone meanwhile is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
