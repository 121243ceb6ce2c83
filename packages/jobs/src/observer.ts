/** The logger of every service fits. */
export type JobLog = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;

/** An observer is told of the rounds of a job; the metrics are made of what it hears. */
export interface Observer {
  /** Measures a round; a round that rejects counts as a failure. */
  round<T>(work: () => Promise<T>): Promise<T>;
  /** A round that is not measured has ended well. */
  ran(): void;
  /** A round that is not measured has failed. */
  failed(error?: unknown): void;
}
