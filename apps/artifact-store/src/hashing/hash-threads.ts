import { Worker } from "node:worker_threads";
import { HarrierError } from "@harrier/errors";
import type { Algorithm, ThreadAnswer, ThreadRequest } from "./thread-messages.ts";

/** A thread that has had nothing to do for so long ends: its memory is needed seldom. */
const restMs = 30_000;
/** A thread that needs more is broken: bytes are in shared memory, and hashers in memory of their own. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/** Which hashes a thread computes: each of the two has about half of the work. */
const divided: readonly (readonly Algorithm[])[] = [["sha256", "sha1"], ["md5"]];

type Asked<T = ThreadRequest> = T extends ThreadRequest ? Omit<T, "call" | "file"> : never;

/** Two threads that hash files, so that a replica can do other things meanwhile. They begin with the first file, and end when there is none. */
export class HashThreads {
  readonly #threads: (Thread | undefined)[] = [undefined, undefined];
  #files = 0;

  /** Opens a file in both threads. */
  open(): ThreadFile {
    const file = this.#files++;
    const parts = divided.map((hashes, n) => {
      const thread = this.#thread(n);
      thread.files += 1;
      // a failure is that of the next request, too
      thread.ask(file, { what: "open", hashes }).catch(() => undefined);
      return { hashes, thread };
    });
    const ask = (request: Asked) => Promise.all(parts.map(({ thread }) => thread.ask(file, request)));
    return {
      update: async (block, length) => void (await ask({ what: "update", block, length })),
      digest: async () => {
        const answers = await ask({ what: "digest" });
        const found = parts.flatMap(({ hashes }, n) => hashes.map((algorithm, i) => [algorithm, answers[n]?.[i]] as const));
        return Object.fromEntries(found) as Record<Algorithm, string>;
      },
      release: () => {
        for (const { thread } of parts) {
          thread.files -= 1;
          thread.ask(file, { what: "release" }).catch(() => undefined);
        }
      },
    };
  }

  /** Ends the threads; the files in them fail. The next file begins new ones. */
  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread?.end()));
  }

  #thread(n: number): Thread {
    const running = this.#threads[n];
    if (running !== undefined && !running.ended) return running;
    const thread = new Thread();
    this.#threads[n] = thread;
    return thread;
  }
}

/** A file in the threads. Each of these rejects with artifactUploadFailed if a thread has ended. */
export interface ThreadFile {
  /** Hashes the first `length` bytes of a block. */
  update(block: SharedArrayBuffer, length: number): Promise<void>;
  digest(): Promise<Record<Algorithm, string>>;
  release(): void;
}

interface Waiting {
  resolve(answer: ThreadAnswer["answer"]): void;
  reject(error: Error): void;
}

class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #rest: NodeJS.Timeout;
  #calls = 0;
  #error: Error | undefined;
  /** How many files are open in it. */
  files = 0;

  constructor() {
    this.#worker = new Worker(new URL(`./hash-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url), {
      resourceLimits,
    });
    this.#worker.unref();
    this.#worker.on("message", ({ call, answer, error }: ThreadAnswer) => {
      const waiting = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (error === undefined) waiting?.resolve(answer);
      else waiting?.reject(failed(new Error(error)));
    });
    this.#worker.on("error", (error) => this.#fail(error as Error));
    this.#worker.on("exit", () => this.#fail(new Error("the thread has ended")));
    this.#rest = setTimeout(() => this.#endAtRest(), restMs);
    this.#rest.unref();
  }

  get ended(): boolean {
    return this.#error !== undefined;
  }

  ask(file: number, request: Asked): Promise<ThreadAnswer["answer"]> {
    if (this.#error !== undefined) return Promise.reject(failed(this.#error));
    this.#rest.refresh();
    const call = this.#calls++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#worker.postMessage({ ...request, call, file });
    });
  }

  async end(): Promise<void> {
    this.#fail(new Error("the thread was ended"));
    await this.#worker.terminate();
  }

  #endAtRest(): void {
    if (this.files === 0) void this.end();
    else this.#rest.refresh();
  }

  #fail(error: Error): void {
    this.#error ??= error;
    clearTimeout(this.#rest);
    for (const waiting of this.#waiting.values()) waiting.reject(failed(error));
    this.#waiting.clear();
  }
}

function failed(cause: Error): HarrierError {
  return new HarrierError("artifactUploadFailed", undefined, { cause });
}
