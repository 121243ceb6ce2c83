import type { Observer } from "./observer.ts";

/** What a process knows of one of its background jobs. */
export interface JobState {
  readonly name: string;
  /** When its last round ended without a failure, epoch ms; absent before the first one. */
  readonly lastRunAt?: number;
  /** Rounds and pieces of work that failed since the process began. */
  readonly failures: number;
  /** The first line of the last failure, its first 256 characters, and when it was, epoch ms. It stays after the job has recovered. */
  readonly lastError?: string;
  readonly lastErrorAt?: number;
  /** Entries that wait in this process for the job. */
  readonly backlog?: number;
}

const maxErrorLength = 256;

/** Keeps what the jobs of a process last did, for those who ask for the state of the installation: a handful of values per job. */
export class JobStates {
  readonly #states = new Map<string, Omit<JobState, "name" | "backlog">>();
  readonly #backlogs: Readonly<Record<string, () => number>>;
  readonly #now: () => number;

  constructor(backlogs: Readonly<Record<string, () => number>>, now: () => number = Date.now) {
    this.#backlogs = backlogs;
    this.#now = now;
  }

  /** Answers an observer that keeps the state of the job and tells the other observer. */
  observe(name: string, observer: Observer): Observer {
    this.#states.set(name, { failures: 0 });
    const set = (state: Partial<JobState>): void => void this.#states.set(name, { failures: 0, ...this.#states.get(name), ...state });
    const ran = (): void => set({ lastRunAt: this.#now() });
    const note = (error: unknown): void =>
      set({ failures: (this.#states.get(name)?.failures ?? 0) + 1, lastError: firstLine(error), lastErrorAt: this.#now() });
    return {
      ran() {
        ran();
        observer.ran();
      },
      failed(error) {
        note(error);
        observer.failed(error);
      },
      async round(work) {
        try {
          const result = await observer.round(work);
          ran();
          return result;
        } catch (error) {
          note(error);
          throw error;
        }
      },
    };
  }

  /** Answers the state of every job, in the order of their declaration. */
  list(): JobState[] {
    return [...this.#states].map(([name, state]) => {
      const backlog = this.#backlogs[name]?.();
      return { name, ...state, ...(backlog === undefined ? {} : { backlog }) };
    });
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : "a piece of its work failed; the log of the process says more";
  return (message.split("\n", 1)[0] ?? "").slice(0, maxErrorLength);
}
