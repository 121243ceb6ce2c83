export interface ChangeFeedOptions<Message> {
  /** Reads what has become visible since a snapshot; the first time, with null, only the snapshot itself. */
  readonly read: (since: string | null) => Promise<{ readonly snapshot: string | null; readonly messages: readonly Message[] }>;
  /** Follows the messages of each reading. */
  readonly heartbeat: Message;
}

/**
 * A log of changes that is read once per process and told to every subscriber. A heartbeat means "everything up to now was read", so
 * none is sent while the log cannot be read: subscribers that hear nothing trust nothing that they have cached.
 */
export class ChangeFeed<Message> {
  readonly #options: ChangeFeedOptions<Message>;
  readonly #listeners = new Set<(message: Message) => void>();
  readonly #closed = new AbortController();
  #snapshot: string | null = null;

  constructor(options: ChangeFeedOptions<Message>) {
    this.#options = options;
  }

  /** One round: tells everything that has become visible since the last one, then the heartbeat. */
  async read(): Promise<void> {
    const { snapshot, messages } = await this.#options.read(this.#snapshot);
    for (const message of messages) this.#tell(message);
    this.#tell(this.#options.heartbeat);
    this.#snapshot = snapshot;
  }

  /** Tells `listener`, which must not throw, everything from now on until `signal` aborts or the feed is closed. */
  subscribe(listener: (message: Message) => void, signal: AbortSignal): Promise<void> {
    this.#listeners.add(listener);
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
