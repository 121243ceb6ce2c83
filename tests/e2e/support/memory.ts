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

/** The same of several replicas at the same time: by how many bytes any of them grew at most. */
export async function growthOfAny(replicas: readonly RunningService[], work: () => Promise<void>): Promise<number> {
  const [first, ...others] = replicas;
  if (first === undefined) throw new Error("there are no replicas");
  if (others.length === 0) return growthDuring(first, work);
  let inner = 0;
  const outer = await growthDuring(first, async () => {
    inner = await growthOfAny(others, work);
  });
  return Math.max(inner, outer);
}
