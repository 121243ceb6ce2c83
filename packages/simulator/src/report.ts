/** The last report of a device about an action, which the server answered. */
export interface FinalReport {
  readonly controllerId: string;
  readonly actionId: string;
  /** `gone` means that somebody else had closed the action before the device could. */
  readonly outcome: "success" | "failure" | "cancelled" | "gone";
  readonly at: number;
}

export interface FleetReport {
  readonly devices: number;
  readonly polls: number;
  /** The number of answered feedbacks, final ones included. */
  readonly reports: number;
  readonly downloads: number;
  readonly bytes: number;
  /** The number of requests that had to be repeated. */
  readonly retries: number;
  readonly finals: readonly FinalReport[];
  /** Forbidden behaviour of the server: a wrong hash, an action that comes back after its end, an unexpected status. */
  readonly violations: readonly string[];
  /** The cycles that ended early, by reason; the device tried again at its next poll. */
  readonly failures: Readonly<Record<string, number>>;
}

export type FleetEvent =
  | { readonly kind: "polled"; readonly controllerId: string; readonly links: readonly string[] }
  | { readonly kind: "started"; readonly controllerId: string; readonly actionId: string }
  | {
      readonly kind: "downloaded";
      readonly controllerId: string;
      readonly actionId: string;
      readonly filename: string;
      readonly bytes: number;
    }
  | ({ readonly kind: "final" } & FinalReport)
  | { readonly kind: "violation"; readonly controllerId: string; readonly message: string }
  | { readonly kind: "failed"; readonly controllerId: string; readonly message: string };

/** Adds up what happens in a fleet. */
export class Tally {
  #polls = 0;
  #reports = 0;
  #downloads = 0;
  #bytes = 0;
  #retries = 0;
  readonly #finals: FinalReport[] = [];
  readonly #violations: string[] = [];
  readonly #failures = new Map<string, number>();
  readonly #onEvent: (event: FleetEvent) => void;

  constructor(onEvent: (event: FleetEvent) => void = () => {}) {
    this.#onEvent = onEvent;
  }

  polled(controllerId: string, links: readonly string[]): void {
    this.#polls += 1;
    this.#onEvent({ kind: "polled", controllerId, links });
  }
  started(controllerId: string, actionId: string): void {
    this.#onEvent({ kind: "started", controllerId, actionId });
  }
  reported(): void {
    this.#reports += 1;
  }
  retried(): void {
    this.#retries += 1;
  }
  received(bytes: number): void {
    this.#bytes += bytes;
  }
  downloaded(of: { controllerId: string; actionId: string; filename: string; bytes: number }): void {
    this.#downloads += 1;
    this.#onEvent({ kind: "downloaded", ...of });
  }
  ended(final: FinalReport): void {
    this.#finals.push(final);
    this.#onEvent({ kind: "final", ...final });
  }
  violated(controllerId: string, message: string): void {
    this.#violations.push(`${controllerId}: ${message}`);
    this.#onEvent({ kind: "violation", controllerId, message });
  }
  failed(controllerId: string, message: string): void {
    this.#failures.set(message, (this.#failures.get(message) ?? 0) + 1);
    this.#onEvent({ kind: "failed", controllerId, message });
  }

  report(devices: number): FleetReport {
    return {
      devices,
      polls: this.#polls,
      reports: this.#reports,
      downloads: this.#downloads,
      bytes: this.#bytes,
      retries: this.#retries,
      finals: [...this.#finals],
      violations: [...this.#violations],
      failures: Object.fromEntries(this.#failures),
    };
  }
}
