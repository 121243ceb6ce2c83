import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { RunningService } from "@harrier/stack";

const exec = promisify(execFile);
const everyMs = 200;

/** Reads the resident memory of a replica's process, in bytes. */
async function residentOf(replica: RunningService): Promise<number> {
  const { stdout } = await exec("ps", ["-o", "rss=", "-p", String(replica.pid())]);
  return Number(stdout) * 1_024;
}

/** Measures by how many bytes a replica's process grew at most after the work began. */
export async function growthDuring(replica: RunningService, work: () => Promise<void>): Promise<number> {
  const before = await residentOf(replica);
  let largest = before;
  let done = false;
  const watching = (async () => {
    while (!done) {
      largest = Math.max(largest, await residentOf(replica));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  await work().finally(() => {
    done = true;
  });
  await watching;
  return largest - before;
}
