import { randomUUID } from "node:crypto";
import { codes, toHarrierError } from "@harrier/errors";

export interface DownloadNote {
  readonly tenantId: number;
  readonly actionId: number;
  readonly path: string;
  readonly at: number;
}

export interface NotesDeps {
  /** Idempotent by the command id. */
  readonly send: (notes: readonly DownloadNote[], commandId: string) => Promise<void>;
  readonly onDropped: (count: number, error: unknown) => void;
  readonly now: () => number;
}

export interface NotesLimits {
  readonly everyMs: number;
  readonly batch: number;
  readonly waiting: number;
  readonly giveUpMs: number;
}

const usual: NotesLimits = { everyMs: 500, batch: 200, waiting: 20_000, giveUpMs: 120_000 };

/**
 * Tells controller which full downloads began, for the history of their actions. A courtesy: notes go in batches behind the
 * downloads, wait while controller is away, and are dropped rather than letting a download fail or memory grow.
 */
export class DownloadNotes {
  readonly #deps: NotesDeps;
  readonly #limits: NotesLimits;
  #waiting: DownloadNote[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #stopped = false;

  constructor(deps: NotesDeps, limits: NotesLimits = usual) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Never fails and never waits. */
  add(note: DownloadNote): void {
    if (this.#waiting.length >= this.#limits.waiting) {
      this.#deps.onDropped(1, new Error("too many notes are waiting"));
      return;
    }
    this.#waiting.push(note);
    if (this.#waiting.length >= this.#limits.batch) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), this.#limits.everyMs);
  }

  /** Sends what waits, as far as that goes at the first attempt. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const notes = this.#waiting.splice(0, this.#limits.batch);
      await this.#sendBatch(notes);
    }
  }

  async #sendBatch(notes: readonly DownloadNote[]): Promise<void> {
    // one id for all attempts: a lost answer must not double the entries
    const commandId = randomUUID();
    const until = this.#deps.now() + this.#limits.giveUpMs;
    for (let pause = 200; ; pause = Math.min(pause * 2, 5_000)) {
      try {
        return await this.#deps.send(notes, commandId);
      } catch (error) {
        const { code } = toHarrierError(error);
        const hopeless = !codes[code].retryable && code !== "internal";
        if (hopeless || this.#stopped || this.#deps.now() >= until) {
          this.#deps.onDropped(notes.length, error);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}
