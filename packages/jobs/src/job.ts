import { Batcher } from "./batcher.ts";
import type { LeaseOptions } from "./leases.ts";
import { Loop, type LoopOptions, restAfter } from "./loop.ts";
import type { JobLog, Observer } from "./observer.ts";
import { Outage } from "./outage.ts";
import { pause } from "./pause.ts";

export interface JobTools {
  readonly log: JobLog;
  readonly observer: Observer;
  /** Tests choose another period than the declared one. */
  readonly everyMs?: number | undefined;
}

export interface RunningJob {
  /** Where a job has rounds, it resolves when the first one has ended. */
  start(): unknown;
  /** There is work to do now; nothing is lost when nobody calls this. */
  wake?(): void;
  stop(): unknown;
}

interface Described {
  /** One plain sentence says it, for the table of docs/operations.md. */
  readonly does: string;
  /** It works on every replica, on the one that leads, or on whichever holds the lease of a row. */
  readonly runs: "every replica" | "leader" | "lease";
  /** Jobs of one group are started and stopped together: `background` where none is named. */
  readonly group?: string;
}

/** A declared job says what an operator reads of it, and how it comes to life. */
export interface Job<Deps> extends Described {
  readonly everyMs: number;
  /** The longest wait while its rounds find nothing to do. */
  readonly restMs?: number;
  readonly create: (deps: Deps, tools: JobTools) => RunningJob;
  /** So much waits for it in this process. */
  readonly backlog?: (deps: Deps) => number;
}

interface Failures<Deps> {
  /** This is logged with the first failure of an outage. */
  readonly failure: string;
  /** This is logged at the end of an outage, where somebody waits for it. */
  readonly recovered?: string;
  /** Every failure is logged: rounds are rare, or each failure says something of its own. */
  readonly everyFailure?: boolean;
  readonly level?: "warn" | "error";
  /** Until the first success failures are logged only after so long: at a start the others may not serve yet. */
  readonly graceMs?: number;
  /** The log line of a failure has these fields too. */
  readonly fields?: (deps: Deps, error: unknown) => object;
}

interface Every<Deps>
  extends Described,
    Failures<Deps>,
    Pick<LoopOptions, "later" | "steady" | "restMs" | "paced" | "lastRound" | "stopLimitMs"> {
  readonly everyMs: number;
  /**
   * Does one round; it answers true when there is more to do, so that the next one begins at once, `{ againMs }` when the next one is
   * wanted sooner than usual, and false when it has found nothing to do, for `restMs`. A round that survives the failure of one piece of its work
   * calls `pieceFailed`, so that the failure is counted.
   */
  readonly work: (deps: Deps, signal: AbortSignal, pieceFailed: (error?: unknown) => void) => unknown;
  /** The next round after a failed one begins so much later; a period later if it is absent. */
  readonly retryMs?: number;
  readonly backlog?: (deps: Deps) => number;
  /** This is called when the job begins to stop, before its round has ended. */
  readonly onStop?: (deps: Deps) => void;
}

/** The job does a round of work once a period, and at once when it is woken or its last round has left something to do. */
export function every<Deps>(options: Every<Deps>): Job<Deps> {
  const { does, runs, group, everyMs, restMs, work, onStop, backlog } = options;
  const { later, steady, paced, lastRound, stopLimitMs, retryMs } = options;
  return {
    ...described({ does, runs, group, everyMs, restMs, backlog }),
    create(deps, tools) {
      const failures = failuresOf(options, deps, tools);
      const round = async (signal: AbortSignal): Promise<unknown> => {
        try {
          const more = await tools.observer.round(async () => work(deps, signal, tools.observer.failed));
          failures.succeeded();
          return more;
        } catch (error) {
          failures.failed(error);
          // it is tried again after a period unless the job says otherwise, because nobody knows what there is to do
          return retryMs === undefined ? undefined : { againMs: retryMs };
        }
      };
      const loop = new Loop({
        round,
        everyMs: tools.everyMs ?? everyMs,
        restMs: restOf(tools, restMs),
        later,
        steady,
        paced,
        lastRound,
        stopLimitMs,
      });
      return {
        start: () => loop.start(),
        wake: loop.wake,
        stop() {
          onStop?.(deps);
          return loop.stop();
        },
      };
    },
  };
}

/** It calls `lead` whenever it has become the leader, and ends when `signal` aborts. */
export type Leadership<Deps> = (
  deps: Deps,
  options: { signal: AbortSignal; lead: (signal: AbortSignal) => Promise<void>; onError: (error: unknown) => void },
) => Promise<void>;

interface Led<Deps> extends Omit<Described, "runs">, Failures<Deps> {
  readonly everyMs: number;
  /** The longest wait while rounds find nothing to do, as for `every`. */
  readonly restMs?: number;
  /** Does one round; it answers true when there is more to do, and false when it has found nothing. A failure ends the leadership. */
  readonly work: (deps: Deps, signal: AbortSignal) => Promise<unknown>;
  readonly leadership: Leadership<Deps>;
}

/** The job does a round of work once a period on the one replica that leads. */
export function led<Deps>(options: Led<Deps>): Job<Deps> {
  const { does, group, everyMs, restMs, work, leadership } = options;
  return {
    ...described({ does, runs: "leader", group, everyMs, restMs }),
    create(deps, tools) {
      const stopping = new AbortController();
      let ended: Promise<void> | undefined;
      const failures = failuresOf(options, deps, tools);
      const lead = async (signal: AbortSignal): Promise<void> => {
        const period = tools.everyMs ?? everyMs;
        for (let empty = 0; !signal.aborted; ) {
          const more = await tools.observer.round(() => work(deps, signal));
          failures.succeeded();
          empty = more === false ? empty + 1 : 0;
          if (more !== true) await pause(empty === 0 ? period : restAfter(empty, period, restOf(tools, restMs) ?? period), signal);
        }
      };
      return {
        start() {
          ended = leadership(deps, { signal: stopping.signal, lead, onError: failures.failed });
        },
        stop() {
          stopping.abort();
          return ended;
        },
      };
    },
  };
}

interface Leased<Deps> extends Omit<Described, "runs">, Omit<LeaseOptions, "log" | "observer"> {
  /** Makes the worker, which claims and works. */
  readonly worker: (deps: Deps, options: LeaseOptions) => RunningJob;
}

/** The job works under leases: any number of replicas claim what is due, and each works on several claims at a time. */
export function leased<Deps>({ does, group, pollMs, leaseSeconds, slots, worker }: Leased<Deps>): Job<Deps> {
  return {
    ...described({ does, runs: "lease", group, everyMs: pollMs }),
    create: (deps, { log, observer, everyMs = pollMs }) => worker(deps, { pollMs: everyMs, leaseSeconds, slots, log, observer }),
  };
}

/** A buffer collects in memory what is sent later. */
export interface Buffer {
  readonly size: number;
  /** Sends what waits, as far as that goes at one attempt; where it rejects, what was not sent stays. */
  send(): Promise<unknown>;
}

interface Batched<Deps> extends Described, Failures<Deps> {
  readonly soonMs: number;
  readonly everyMs: number;
  readonly buffer: (deps: Deps) => Buffer;
}

/** Sends what a buffer collects, in batches. The buffer wakes the job with each entry; the last batch goes at the stop. */
export function batched<Deps>(options: Batched<Deps>): Job<Deps> {
  const { does, runs, group, soonMs, everyMs, buffer } = options;
  return {
    ...described({ does, runs, group, everyMs, backlog: (deps: Deps) => buffer(deps).size }),
    create(deps, tools) {
      const failures = failuresOf(options, deps, tools);
      const waiting = buffer(deps);
      const send = (): Promise<void> => tools.observer.round(() => waiting.send()).then(failures.succeeded, failures.failed);
      const batcher = new Batcher({ send, isWaiting: () => waiting.size > 0, soonMs, everyMs: tools.everyMs ?? everyMs });
      return { start: () => {}, wake: batcher.wake, stop: () => batcher.stop() };
    },
  };
}

interface Part<Deps> extends Described {
  readonly everyMs: number;
  readonly start: (deps: Deps, observer: Observer) => unknown;
  readonly stop: (deps: Deps) => unknown;
  readonly backlog?: (deps: Deps) => number;
}

/** The job is something with a life of its own, which tells the observer of its rounds. */
export function part<Deps>({ start, stop, ...description }: Part<Deps>): Job<Deps> {
  return {
    ...description,
    create: (deps, { observer }) => ({ start: () => start(deps, observer), stop: () => stop(deps) }),
  };
}

/** Where tests choose another period, nothing rests. */
const restOf = (tools: JobTools, restMs: number | undefined): number | undefined => (tools.everyMs === undefined ? restMs : undefined);

/** Members that are not given are left out. */
function described<Deps>(of: {
  does: string;
  runs: Described["runs"];
  everyMs: number;
  restMs?: number | undefined;
  group?: string | undefined;
  backlog?: ((deps: Deps) => number) | undefined;
}): Omit<Job<Deps>, "create"> {
  const { group, restMs, backlog, ...description } = of;
  return {
    ...description,
    ...(restMs === undefined ? {} : { restMs }),
    ...(group === undefined ? {} : { group }),
    ...(backlog === undefined ? {} : { backlog }),
  };
}

function failuresOf<Deps>(options: Failures<Deps>, deps: Deps, { log }: JobTools): Pick<Outage, "failed" | "succeeded"> {
  const { failure, recovered, everyFailure, level = "warn", fields, graceMs = 0 } = options;
  const failed = (err: unknown): void => log[level]({ err, ...fields?.(deps, err) }, failure);
  if (everyFailure === true) return { failed, succeeded: () => {} };
  const outage = new Outage({ failed, graceMs, recovered: recovered === undefined ? undefined : () => log.info({}, recovered) });
  return { failed: (error) => outage.failed(error), succeeded: () => outage.succeeded() };
}
