import { HarrierError } from "@harrier/errors";

/** Carries out one request, alone or in a statement with others. */
export type Gathered<Request, Answer> = (request: Request) => Promise<Answer>;

/** It stands in the place of an answer: the request has had no effect, and is carried out alone. */
export const alone: unique symbol = Symbol("alone");

export interface Gathering<Request, Answer> {
  /** Carries out what `many` has left. */
  one(request: Request): Promise<Answer>;
  /** `one` waits for no lock either, so that a request without company may take this cheaper way at once. */
  oneNeverWaits?: boolean;
  /**
   * Waits for no lock, and answers in the order of the requests. If PostgreSQL refuses them for what one of them holds, each is carried out alone;
   * after any other error, when nobody may know whether they took effect, each is rejected with it.
   */
  many(requests: readonly Request[]): Promise<readonly (Answer | typeof alone)[]>;
  /** The maximum of statements side by side. */
  maxStatements: number;
  now(): number;
}

/** While a statement runs, new requests wait for it and then share the next one. */
const maxRequests = 64;
/** A statement that takes longer than this (milliseconds) is not waited for: others run side by side with it. */
const slowMs = 20;
/** The longest wait for an answer (milliseconds): the gateway's time limit of a device's request. */
const maxWaitMs = 5_000;

/** PostgreSQL's classes of errors that one request of many can cause, and after which nothing has taken effect: data, constraints, deadlocks, raised. */
const ofOne = /^(22|23|40|P0)/;

function isOfOne(error: unknown): boolean {
  return ofOne.test((error as { code?: string } | undefined)?.code ?? "");
}

interface Waiting<Request, Answer> {
  request: Request;
  since: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Carries out requests alone under low load and together under high load. Most of the cost of a poll or a report is the way to the database and
 * back, and the commit: sharing it halves the database's part, and a request waits for the statement that is under way, rarely for more.
 */
export function gather<Request, Answer>(options: Gathering<Request, Answer>): Gathered<Request, Answer> {
  const { one, many, oneNeverWaits, maxStatements, now } = options;
  let running = 0;
  let startedAt = 0;
  let soon = false;
  let waiting: Waiting<Request, Answer>[] = [];

  const carryOutAlone = ({ request, resolve, reject }: Waiting<Request, Answer>): Promise<void> => one(request).then(resolve, reject);

  async function carryOutTogether(batch: readonly Waiting<Request, Answer>[]): Promise<void> {
    try {
      const answers = await many(batch.map(({ request }) => request));
      for (const [i, request] of batch.entries()) {
        const answer = answers[i] as Answer | typeof alone;
        if (answer === alone) void carryOutAlone(request);
        else request.resolve(answer);
      }
    } catch (error) {
      if (isOfOne(error)) for (const request of batch) void carryOutAlone(request);
      else for (const { reject } of batch) reject(error);
    }
  }

  function start(): void {
    soon = false;
    if (waiting.length === 0) return;
    const batch = waiting.slice(0, maxRequests);
    waiting = waiting.slice(maxRequests);
    const [first] = batch;
    const takesOne = first !== undefined && batch.length === 1 && oneNeverWaits === true;
    const done = takesOne ? carryOutAlone(first) : carryOutTogether(batch);
    running += 1;
    startedAt = now();
    void done.then(() => {
      running -= 1;
      start();
    });
  }

  /** Rejects requests that their devices have long given up, so that they do not pile up while the database answers nothing. */
  function giveUp(before: number): void {
    const late = waiting.findIndex(({ since }) => since > before);
    for (const { reject } of waiting.splice(0, late < 0 ? waiting.length : late)) reject(new HarrierError("unavailable"));
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const since = now();
      waiting.push({ request, since, resolve, reject });
      if (soon) return;
      if (running > 0) {
        if ((waiting[0] as Waiting<Request, Answer>).since < since - maxWaitMs) giveUp(since - maxWaitMs);
        if (running >= maxStatements || since - startedAt <= slowMs) return;
      }
      soon = true;
      setImmediate(start); // The request goes together with the others of this tick of the event loop.
    });
}
