import { getHeapStatistics } from "node:v8";
import type { Log } from "./log.ts";

/** Node's `gc` of --expose-gc, as far as it is used here. */
type Collect = (options: { type: "minor"; execution: "sync" } | { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

export interface MemoryRestOptions {
  readonly log: Pick<Log, "debug">;
  /** It is `globalThis.gc`: without --expose-gc memory is left to V8. */
  readonly collect: Collect | undefined;
  /** The CPU time of the process so far, in ms. */
  readonly cpuMs: () => number;
  /** So much of the heap is used: what it holds beyond that costs a collection nothing. */
  readonly usedBytes: () => number;
}

const checkEveryMs = 15_000;
/** Below this share of a core between two checks the process rests, and a pause is noticed by nobody. */
const restShare = 0.02;
/** With less work since the last time there is little to give back. A start is more; what a process does at rest is no work, however long it rests. */
const worthMs = 500;
/**
 * The pause is a tenth of a second for 30 MB that are in use, and a revocation has to be heard within a second: V8 is not asked to do so for a heap like
 * that of a gateway with millions of credentials.
 */
const maxUsedBytes = 100 * 2 ** 20;

/**
 * Gives back the memory of work that is over, the start above all, when the process has come to rest: V8 keeps what its heap has grown to until it
 * is short of memory, which is half of what an idle service holds. One collection follows each time of work, and none comes under load.
 */
export class MemoryRest {
  readonly #options: MemoryRestOptions;
  readonly #timer: NodeJS.Timeout;
  #seenMs = 0;
  /** The CPU time since the last collection, but for that at rest. */
  #workedMs = 0;

  constructor(options: MemoryRestOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
  }

  /** Collects if the process has worked, and rests since the last check. */
  check(): void {
    const { collect, cpuMs, usedBytes, log } = this.#options;
    const now = cpuMs();
    const used = now - this.#seenMs;
    const rests = used < restShare * checkEveryMs;
    this.#seenMs = now;
    if (!rests) this.#workedMs += used;
    if (!rests || collect === undefined || this.#workedMs < worthMs) return;
    // A young generation may be full of what nobody uses any more, and at rest it stays so: without it the rest says how long the pause will be.
    collect({ type: "minor", execution: "sync" });
    const before = usedBytes();
    if (before > maxUsedBytes) return;
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    this.#workedMs = 0;
    this.#seenMs = cpuMs();
    log.debug({ ms: this.#seenMs - now, before, after: usedBytes() }, "memory was given back");
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** The same for this process. */
export function restMemory(log: Pick<Log, "debug">): MemoryRest {
  return new MemoryRest({
    log,
    collect: (globalThis as { gc?: Collect }).gc,
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    usedBytes: () => getHeapStatistics().used_heap_size,
  });
}
