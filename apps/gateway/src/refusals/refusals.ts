import { randomUUID } from "node:crypto";
import { codes, toHarrierError } from "@harrier/errors";

/** Something that the door refused, as the audit trail tells of it. */
export interface Refusal {
  /** Of who was signed in, or of the tenant that a client's id tells; 0: `tenant` is what was claimed, "" for that of the operator. */
  readonly tenantId: number;
  readonly tenant: string;
  readonly signedIn: boolean;
  /** Who it is, or claims to be. */
  readonly actor: string;
  /** `signIn`, or the operation that was refused. */
  readonly action: string;
  readonly entity: string;
  readonly entityIds: readonly string[];
  /** Of the credential; never the credential. */
  readonly scheme: string;
  readonly address: string;
  readonly status: number;
  readonly errorCode: string;
}

export interface CountedRefusal extends Refusal {
  /** Of the first of them. */
  readonly requestId: string;
  readonly at: number;
  times: number;
}

interface Deps {
  /** Repeated with the same id until it succeeds, or fails for good: then it must count once. */
  readonly send: (refusals: readonly CountedRefusal[], batchId: string) => Promise<void>;
  readonly onFailed: (error: unknown) => void;
  /** So many lines will never be told. */
  readonly onDropped: (lines: number, error: unknown) => void;
  readonly now: () => number;
}

interface Limits {
  /** So soon a refusal is told, */
  readonly soonMs: number;
  /** so long is the pause between two batches, */
  readonly everyMs: number;
  /** so many different ones of strangers are told apart between them, */
  readonly strangers: number;
  /** and so many of those who have signed in, who can be asked. */
  readonly signedIn: number;
}

const usual: Limits = { soonMs: 500, everyMs: 5_000, strangers: 64, signedIn: 512 };

interface Batch {
  readonly id: string;
  readonly refusals: readonly CountedRefusal[];
}

/**
 * Counts refusals that are alike and tells management every few seconds. Ten thousand wrong tries, from as many addresses, are 64 lines and one
 * for all the others: neither the memory here nor the trail there grows with what a stranger sends. While management is away they are
 * counted on; a batch that it will never take is dropped, or nothing that comes after would ever be told.
 */
export class Refusals {
  readonly #deps: Deps;
  readonly #limits: Limits;
  #counted = new Map<string, CountedRefusal>();
  readonly #different = { strangers: 0, signedIn: 0 };
  #batch: Batch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #failing = false;
  #stopped = false;

  constructor(deps: Deps, limits: Limits = usual) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Never fails and never waits. */
  note(refusal: Refusal, requestId: string): void {
    const name = JSON.stringify(refusal);
    const known = this.#counted.get(name);
    const whose = refusal.signedIn ? "signedIn" : "strangers";
    if (known !== undefined) known.times += 1;
    else if (this.#different[whose] < this.#limits[whose]) {
      this.#different[whose] += 1;
      this.#count(name, refusal, requestId);
    } else this.#countWithoutName(refusal);
    this.#schedule();
  }

  /** Tells what waits, as far as that goes at one attempt. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#sendAll();
  }

  #count(name: string, refusal: Refusal, requestId: string): void {
    this.#counted.set(name, { ...refusal, requestId, at: this.#deps.now(), times: 1 });
  }

  /** As many of these as there are operations and reasons. */
  #countWithoutName({ action, status, errorCode }: Refusal): void {
    const others = { tenantId: 0, tenant: "", signedIn: false, actor: "", entity: "", entityIds: [], scheme: "", address: "" };
    const refusal: Refusal = { ...others, action, status, errorCode };
    const name = JSON.stringify(refusal);
    const known = this.#counted.get(name);
    if (known === undefined) this.#count(name, refusal, "");
    else known.times += 1;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#stopped) return;
    const { soonMs, everyMs } = this.#limits;
    const pause = this.#sentAt + everyMs - this.#deps.now();
    // never longer, even where the clock was set back
    this.#timer = setTimeout(() => this.#flush(), Math.min(everyMs, Math.max(soonMs, pause)));
  }

  #flush(): void {
    this.#timer = undefined;
    this.#sentAt = this.#deps.now();
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#batch !== undefined || this.#counted.size > 0) this.#schedule();
    });
  }

  async #sendAll(): Promise<void> {
    if (this.#batch === undefined && this.#counted.size > 0) {
      this.#batch = { id: randomUUID(), refusals: [...this.#counted.values()] };
      this.#counted = new Map();
      Object.assign(this.#different, { strangers: 0, signedIn: 0 });
    }
    const batch = this.#batch;
    if (batch === undefined) return;
    try {
      await this.#deps.send(batch.refusals, batch.id);
      this.#batch = undefined;
      this.#failing = false;
    } catch (error) {
      if (isHopeless(error)) {
        this.#batch = undefined;
        this.#failing = false;
        this.#deps.onDropped(batch.refusals.length, error);
        return;
      }
      // once per outage
      if (!this.#failing) this.#deps.onFailed(error);
      this.#failing = true;
    }
  }
}

/** Another try would end the same. What broke inside may be whole again. */
function isHopeless(error: unknown): boolean {
  const { code } = toHarrierError(error);
  return !codes[code].retryable && code !== "internal";
}
