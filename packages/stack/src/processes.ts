import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const onLinux = process.platform === "linux";

/** Whether a process with this id runs (also one that we may not signal). A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  // if process 1 never reaps, as in many containers, a zombie's id stays taken forever
  return !/^[ZX]/.test(stateOf(pid));
}

/** Answers the system's letter for the state of a process (R, S, Z, …); empty if it is not available. */
function stateOf(pid: number): string {
  if (!onLinux) return spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? "";
  return statFields(pid)?.[0] ?? "";
}

/** Answers the fields of /proc for a process from the third one on: the second is the command in brackets and may contain blanks. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** Answers when a process began, as the system formats it; together with the id it identifies one process, because ids are reused. */
export function startOf(pid: number): string | undefined {
  if (!onLinux) return spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() || undefined;
  return statFields(pid)?.[19]; // it is field 22
}

/** Answers the processes that work in a folder; only these candidates are checked if the system cannot list them. */
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
        return false; // it has just ended, or belongs to another user
      }
    });
}

/** Waits until none of them is left; false if some are left after `limitMs`. */
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
