import { within } from "./pause.ts";

export interface ChangeFeedOptions<Message> {
  /** Reads what has become visible since a snapshot; the first time, with null, only the snapshot itself. */
  readonly read: (since: string | null) => Promise<{ readonly snapshot: string | null; readonly messages: readonly Message[] }>;
  /** Follows the messages of each reading. */
  readonly heartbeat: Message;
  /** Is called when somebody needs the changes again: the next reading should begin at once. */
  readonly onNeeded?: () => void;
  /** The time in milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

/** So long after its last use nobody needs the changes, unless somebody follows them. */
const unusedAfterMs = 30_000;
/** A reading that takes longer is not waited for: what uses the changes goes on with what is known. */
const longestWaitMs = 1_000;

/**
 * A log of changes that is read once per process and told to every subscriber. A heartbeat means "everything up to now was read", so
 * none is sent while the log cannot be read: subscribers that hear nothing trust nothing that they have cached. While nobody follows it and nobody uses
 * what it tells, it may be read seldom: whoever comes then waits for one reading.
 */
export class ChangeFeed<Message> {
  readonly #options: ChangeFeedOptions<Message>;
  readonly #listeners = new Set<(message: Message) => void>();
  readonly #closed = new AbortController();
  readonly #now: () => number;
  #snapshot: string | null = null;
  #usedAt: number;
  #rests = false;
  /** Resolves with the next reading that begins. */
  #awaited: PromiseWithResolvers<void> | undefined;

  constructor(options: ChangeFeedOptions<Message>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#usedAt = this.#now();
  }

  /** One round: tells everything that has become visible since the last one, then the heartbeat. Answers whether anybody needs the next one soon. */
  async read(): Promise<boolean> {
    const awaited = this.#awaited;
    this.#awaited = undefined;
    try {
      const { snapshot, messages } = await this.#options.read(this.#snapshot);
      for (const message of messages) this.#tell(message);
      this.#tell(this.#options.heartbeat);
      this.#snapshot = snapshot;
    } finally {
      this.#rests = this.#listeners.size === 0 && this.#now() - this.#usedAt >= unusedAfterMs;
      awaited?.resolve();
    }
    return !this.#rests;
  }

  /**
   * Something is done that depends on what this feed has told. Answers nothing while it is read at its period, and otherwise a promise of the next
   * reading, which never rejects: what is known may be as old as a rest until then.
   */
  use(): Promise<unknown> | undefined {
    this.#usedAt = this.#now();
    if (!this.#rests) return undefined;
    this.#awaited ??= Promise.withResolvers<void>();
    const { promise } = this.#awaited;
    this.#options.onNeeded?.();
    return within(promise, longestWaitMs);
  }

  /** Tells `listener`, which must not throw, everything from now on until `signal` aborts or the feed is closed. */
  subscribe(listener: (message: Message) => void, signal: AbortSignal): Promise<void> {
    this.#listeners.add(listener);
    if (this.#rests) this.#options.onNeeded?.();
    const ended = AbortSignal.any([signal, this.#closed.signal]);
    return new Promise((resolve) => {
      const end = (): void => {
        this.#listeners.delete(listener);
        resolve();
      };
      if (ended.aborted) end();
      else ended.addEventListener("abort", end, { once: true });
    });
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#closed.abort();
  }

  #tell(message: Message): void {
    for (const listener of this.#listeners) listener(message);
  }
}
