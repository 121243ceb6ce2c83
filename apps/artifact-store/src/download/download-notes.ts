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
  /** Batches begin at least this far apart (ms); the first one after a rest begins at once. */
  readonly everyMs: number;
  readonly batch: number;
  /** Notes that may wait for a batch of their own. */
  readonly waiting: number;
  /** No download waits longer than this for its note (ms), however many batches are ahead of it. */
  readonly timeoutMs: number;
  readonly giveUpMs: number;
  /** What is not written so long after the service was told to stop is dropped (ms). */
  readonly stopMs: number;
}

const usual: NotesLimits = { everyMs: 25, batch: 200, waiting: 20_000, timeoutMs: 1_000, giveUpMs: 120_000, stopMs: 2_000 };

/** Notes that found no room are counted, and told of together. */
const tellEveryMs = 10_000;

/** Notes that are written together, and the downloads that wait for them. */
interface Batch {
  readonly notes: DownloadNote[];
  readonly written: Promise<void>;
  readonly release: () => void;
}

function emptyBatch(timeoutMs: number, onLate: () => void): Batch {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timeout = setTimeout(onLate, timeoutMs);
  const release = (): void => {
    clearTimeout(timeout);
    resolve();
  };
  return { notes: [], written: promise, release };
}

/**
 * Tells controller which full downloads begin, for the history of their actions. A download's first byte waits for its note, so that
 * whatever the device reports of what it got comes behind it. While one batch is written the next one gathers: under load many notes
 * share one command, and with nothing to do a note goes at once. Where controller does not answer, nobody waits for it: notes then
 * follow their downloads, as soon as it is back, and are dropped rather than letting a download fail or memory grow.
 */
export class DownloadNotes {
  readonly #deps: NotesDeps;
  readonly #limits: NotesLimits;
  #batches: Batch[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;
  #writing: Promise<void> | undefined;
  /** The last answer of controller was late, or none: until one comes in time, downloads do not wait. */
  #late = false;
  #stopped = false;
  #withoutRoom = 0;
  #tellAt = Number.NEGATIVE_INFINITY;
  readonly #end = Promise.withResolvers<void>();
  #ended = false;

  constructor(deps: NotesDeps, limits: NotesLimits = usual) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Resolves once the note is written, or is not to be waited for. Never rejects. */
  add(note: DownloadNote): Promise<void> {
    if (this.#waiting >= this.#limits.waiting) {
      this.#refuse();
      return Promise.resolve();
    }
    this.#waiting += 1;
    const { written } = this.#gather(note);
    this.#schedule();
    return this.#late ? Promise.resolve() : written;
  }

  #refuse(): void {
    this.#withoutRoom += 1;
    if (this.#deps.now() < this.#tellAt) return;
    this.#tellAt = this.#deps.now() + tellEveryMs;
    this.#deps.onDropped(this.#withoutRoom, new Error("too many notes are waiting"));
    this.#withoutRoom = 0;
  }

  /** Writes what waits, as far as that goes at the first attempt and within `stopMs`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const limit = setTimeout(() => this.#dropAll(), this.#limits.stopMs);
    while (!this.#ended && (this.#writing !== undefined || this.#batches.length > 0)) {
      this.#begin();
      await Promise.race([this.#writing, this.#end.promise]);
    }
    clearTimeout(limit);
  }

  #dropAll(): void {
    const left = this.#batches.splice(0);
    for (const { release } of left) release();
    if (this.#waiting > 0) this.#deps.onDropped(this.#waiting, new Error("the service has stopped"));
    this.#waiting = 0;
    this.#ended = true;
    this.#end.resolve();
  }

  #gather(note: DownloadNote): Batch {
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.notes.length >= this.#limits.batch) {
      const begun: Batch = emptyBatch(this.#limits.timeoutMs, () => this.#letGo(begun));
      batch = begun;
      this.#batches.push(batch);
    }
    batch.notes.push(note);
    return batch;
  }

  /** Sees to it that what has gathered is written when its time has come. */
  #schedule(): void {
    if (this.#writing !== undefined || this.#batches.length === 0) return;
    if (this.#batches.length > 1) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#delay());
  }

  #delay(): number {
    // also where the clock was set back
    return Math.min(Math.max(this.#nextAt - this.#deps.now(), 0), this.#limits.everyMs);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined) return;
    const batch = this.#batches.shift();
    if (batch === undefined) return;
    this.#waiting -= batch.notes.length;
    this.#nextAt = this.#deps.now() + this.#limits.everyMs;
    this.#writing = this.#write(batch).finally(() => {
      this.#writing = undefined;
      this.#schedule();
    });
  }

  async #write(batch: Batch): Promise<void> {
    try {
      await this.#send(batch);
    } finally {
      batch.release();
    }
  }

  /** Downloads go on without their notes: those of this batch, and those that would have waited for it first. */
  #letGo(batch: Batch): void {
    this.#late = true;
    for (const { release } of [batch, ...this.#batches]) release();
  }

  async #send(batch: Batch): Promise<void> {
    // one id for all attempts: a lost answer must not double the entries
    const commandId = randomUUID();
    const until = this.#deps.now() + this.#limits.giveUpMs;
    for (let pause = 200; ; pause = Math.min(pause * 2, 5_000)) {
      try {
        await this.#deps.send(batch.notes, commandId);
        this.#late = false;
        return;
      } catch (error) {
        this.#letGo(batch);
        const { code } = toHarrierError(error);
        const hopeless = !codes[code].retryable && code !== "internal";
        if (hopeless || this.#stopped || this.#deps.now() >= until) {
          this.#deps.onDropped(batch.notes.length, error);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}
