import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "@harrier/stack";

const everyMs = 200;
const MB = 1_048_576;

/** The resources that the services used while they were watched. */
export interface Readings {
  /** The largest resident memory by replica, in MB. */
  readonly memory: Readonly<Record<string, number>>;
  /** The size of what all of them wrote to their logs, in MB. */
  readonly logs: number;
  /** The replicas that died. */
  readonly died: readonly string[];
}

/** Watches every replica until the returned function is called. */
export function watch(stack: Stack): () => Readings {
  const memory: Record<string, number> = {};
  const died = new Set<string>();
  const pids = new Map(stack.services.map((replica) => [replica.name, replica.pid()]));
  const before = logBytes(stack);
  const sample = (): void => {
    for (const replica of stack.services) {
      if (replica.pid() !== pids.get(replica.name)) died.add(replica.name);
      memory[replica.name] = Math.max(memory[replica.name] ?? 0, residentMB(replica.pid()));
    }
  };
  sample();
  const timer = setInterval(sample, everyMs);
  return () => {
    clearInterval(timer);
    sample();
    return { memory, logs: Math.round(((logBytes(stack) - before) / MB) * 10) / 10, died: [...died] };
  };
}

/** Returns whole MB; 0 for a process that has just ended. */
export function residentMB(pid: number | undefined): number {
  try {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Math.round(Number(line?.[1] ?? 0) / 1_024);
  } catch {
    return 0;
  }
}

function logBytes(stack: Stack): number {
  const dir = join(stack.dataDir, "logs");
  return readdirSync(dir).reduce((sum, file) => sum + statSync(join(dir, file)).size, 0);
}
