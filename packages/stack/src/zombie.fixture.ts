import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import { expect } from "vitest";

const read = (path: string) => readFileSync(`/proc/${path}`, "utf8");

/** Makes a process that has ended but that nobody waits for; Linux only. `end` ends its parent, and it with it. */
export async function startZombie(): Promise<{ pid: number; end(): void }> {
  // The shell becomes a program that does not wait for its children; only then its child ends, whose input ends.
  const keeper = spawn("sh", ["-c", "(read line <&3) & echo $!; exec sleep 600 3<&-"], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
  const end = () => void keeper.kill("SIGKILL");
  try {
    const [said] = (await once(keeper.stdout as NodeJS.EventEmitter, "data")) as [Buffer];
    const pid = Number(said.toString());
    await expect.poll(() => read(`${keeper.pid}/comm`)).toBe("sleep\n");
    (keeper.stdio[3] as Writable).end();
    await expect.poll(() => read(`${pid}/stat`)).toMatch(/\) Z /);
    return { pid, end };
  } catch (error) {
    end();
    throw error;
  }
}
