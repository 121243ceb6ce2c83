import { randomUUID } from "node:crypto";
import { codes, toHarrierError } from "@harrier/errors";
import { backOff, type Observer, pause } from "@harrier/jobs";

export interface BufferedDownload {
  readonly tenantId: number;
  readonly actionId: number;
  readonly path: string;
  readonly at: number;
}

export interface DownloadBufferDeps {
  /** Sends a batch to controller, idempotently by the command id. */
  readonly send: (downloads: readonly BufferedDownload[], commandId: string) => Promise<void>;
  readonly onDropped: (count: number, error: unknown) => void;
  readonly now: () => number;
}

export interface DownloadBufferLimits {
  /** The minimum between the beginnings of two batches (ms); the first one after a pause begins at once. */
  readonly everyMs: number;
  readonly batch: number;
  /** The maximum of downloads that wait for a batch. */
  readonly waiting: number;
  /** The maximum that a download waits for its record (ms), however many batches are ahead of it. */
  readonly timeoutMs: number;
  readonly giveUpMs: number;
  /** Records that are not written this long after the signal to stop are dropped (ms). */
  readonly stopMs: number;
}

const retries = { firstMs: 200, maxMs: 5_000 };
const usual: DownloadBufferLimits = { everyMs: 25, batch: 200, waiting: 20_000, timeoutMs: 1_000, giveUpMs: 120_000, stopMs: 2_000 };

/** Downloads that do not fit into the buffer are counted and reported together at this interval. */
const tellEveryMs = 10_000;

/** Downloads that are recorded by one command, and the promise for which their answers wait. */
interface Batch {
  readonly downloads: BufferedDownload[];
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
  return { downloads: [], written: promise, release };
}

/**
 * Tells controller which downloads of whole files begin, for the history of their actions. The first byte of a download waits for its record,
 * so that every report of the device comes after it. While one batch is written the next one is collected: under load many records share one
 * command, and when idle a record is sent at once. While controller does not answer, downloads do not wait: their records follow when it is
 * back. Records are dropped before a download fails or memory grows without bound.
 */
export class DownloadBuffer {
  readonly #deps: DownloadBufferDeps;
  readonly #limits: DownloadBufferLimits;
  #batches: Batch[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;
  #writing: Promise<void> | undefined;
  /** True after controller answered late or not at all: downloads do not wait until it has answered in time again. */
  #late = false;
  #stopped = false;
  #dropped = 0;
  #tellAt = Number.NEGATIVE_INFINITY;
  #observer: Observer | undefined;
  readonly #end = Promise.withResolvers<void>();
  #ended = false;

  constructor(deps: DownloadBufferDeps, limits: DownloadBufferLimits = usual) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** The number of records that wait to be written. */
  get size(): number {
    return this.#waiting;
  }

  /** Tells the observer of each attempt to write a batch from now on. */
  start(observer: Observer): void {
    this.#observer = observer;
  }

  /** Records a download. The promise resolves when the record is written or need not be waited for, and never rejects. */
  add(download: BufferedDownload): Promise<void> {
    if (this.#waiting >= this.#limits.waiting) {
      this.#refuse();
      return Promise.resolve();
    }
    this.#waiting += 1;
    const { written } = this.#gather(download);
    this.#schedule();
    return this.#late ? Promise.resolve() : written;
  }

  #refuse(): void {
    this.#dropped += 1;
    if (this.#deps.now() < this.#tellAt) return;
    this.#tellAt = this.#deps.now() + tellEveryMs;
    this.#deps.onDropped(this.#dropped, new Error("too many downloads wait to be recorded"));
    this.#dropped = 0;
  }

  /** Writes the waiting records, with one attempt for each batch and within `stopMs`. */
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

  #gather(download: BufferedDownload): Batch {
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.downloads.length >= this.#limits.batch) {
      const begun: Batch = emptyBatch(this.#limits.timeoutMs, () => this.#letGo(begun));
      batch = begun;
      this.#batches.push(batch);
    }
    batch.downloads.push(download);
    return batch;
  }

  /** Begins the next batch when it is due: at once if more than one waits, otherwise at the next interval. */
  #schedule(): void {
    if (this.#writing !== undefined || this.#batches.length === 0) return;
    if (this.#batches.length > 1) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#delay());
  }

  #delay(): number {
    // the maximum keeps the delay short even if the clock was set back
    return Math.min(Math.max(this.#nextAt - this.#deps.now(), 0), this.#limits.everyMs);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined) return;
    const batch = this.#batches.shift();
    if (batch === undefined) return;
    this.#waiting -= batch.downloads.length;
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

  /** Lets downloads go on without their records: those of this batch, and those of the batches behind it. */
  #letGo(batch: Batch): void {
    this.#late = true;
    for (const { release } of [batch, ...this.#batches]) release();
  }

  async #send(batch: Batch): Promise<void> {
    // all attempts have the same id, so that a lost answer does not double the entries
    const commandId = randomUUID();
    const until = this.#deps.now() + this.#limits.giveUpMs;
    const send = () => this.#deps.send(batch.downloads, commandId);
    for (let attempts = 1; ; attempts += 1) {
      try {
        await (this.#observer?.round(send) ?? send());
        this.#late = false;
        return;
      } catch (error) {
        this.#letGo(batch);
        const { code } = toHarrierError(error);
        const hopeless = !codes[code].retryable && code !== "internal";
        if (hopeless || this.#stopped || this.#deps.now() >= until) {
          this.#deps.onDropped(batch.downloads.length, error);
          return;
        }
        await pause(backOff(attempts, retries));
      }
    }
  }
}
