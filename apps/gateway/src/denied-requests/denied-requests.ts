import { randomUUID } from "node:crypto";
import { codes, toHarrierError } from "@harrier/errors";

/** A request that the gateway denied, as the audit trail records it. */
export interface DeniedRequest {
  /** The principal's tenant, or the one in a client's id; 0: `tenant` is the claimed name, "" for that of the operator. */
  readonly tenantId: number;
  readonly tenant: string;
  readonly signedIn: boolean;
  /** The actor, or the claimed one. */
  readonly actor: string;
  /** `signIn`, or the operation that was denied. */
  readonly action: string;
  readonly entity: string;
  readonly entityIds: readonly string[];
  /** The scheme of the credential; never the credential. */
  readonly scheme: string;
  readonly address: string;
  readonly status: number;
  readonly errorCode: string;
}

export interface CountedDeniedRequest extends DeniedRequest {
  /** The id of the first of these requests. */
  readonly requestId: string;
  readonly at: number;
  times: number;
}

interface Deps {
  /** It is repeated with the same id until it succeeds or fails for good, so it must count once. */
  readonly send: (deniedRequests: readonly CountedDeniedRequest[], batchId: string) => Promise<void>;
  /** Called with each denied request. */
  readonly wake: () => void;
  /** Called with the number of entries that were dropped. */
  readonly onDropped: (lines: number, error: unknown) => void;
  readonly now: () => number;
}

/** A batch distinguishes this many denied requests; principals that have signed in are known, so they get more. */
const mostDifferent = { unauthenticated: 64, signedIn: 512 };

interface Batch {
  readonly id: string;
  readonly deniedRequests: readonly CountedDeniedRequest[];
}

/**
 * Counts denied requests that are alike, for a background job that sends them to management every few seconds. Ten thousand failed sign-ins, from as
 * many addresses, are 64 lines and one for all the others, so neither the memory here nor the trail there grows with what an unauthenticated client
 * sends. While management is unavailable the counting continues; a batch that it will never accept is dropped, or no later one would ever be sent.
 */
export class DeniedRequests {
  readonly #deps: Deps;
  #counted = new Map<string, CountedDeniedRequest>();
  readonly #different = { unauthenticated: 0, signedIn: 0 };
  #batch: Batch | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The number of lines that have not been sent. */
  get size(): number {
    return this.#counted.size + (this.#batch?.deniedRequests.length ?? 0);
  }

  /** Records a denied request; never fails and never waits. */
  record(deniedRequest: DeniedRequest, requestId: string): void {
    const name = JSON.stringify(deniedRequest);
    const known = this.#counted.get(name);
    const whose = deniedRequest.signedIn ? "signedIn" : "unauthenticated";
    if (known !== undefined) known.times += 1;
    else if (this.#different[whose] < mostDifferent[whose]) {
      this.#different[whose] += 1;
      this.#count(name, deniedRequest, requestId);
    } else this.#countWithoutName(deniedRequest);
    this.#deps.wake();
  }

  /** Sends one batch; after a failure the same one is sent again. A batch that management will never accept is dropped. */
  async send(): Promise<void> {
    if (this.#batch === undefined && this.#counted.size > 0) {
      this.#batch = { id: randomUUID(), deniedRequests: [...this.#counted.values()] };
      this.#counted = new Map();
      Object.assign(this.#different, { unauthenticated: 0, signedIn: 0 });
    }
    const batch = this.#batch;
    if (batch === undefined) return;
    try {
      await this.#deps.send(batch.deniedRequests, batch.id);
    } catch (error) {
      if (!isHopeless(error)) throw error;
      this.#deps.onDropped(batch.deniedRequests.length, error);
    }
    this.#batch = undefined;
  }

  #count(name: string, deniedRequest: DeniedRequest, requestId: string): void {
    this.#counted.set(name, { ...deniedRequest, requestId, at: this.#deps.now(), times: 1 });
  }

  /** Counts without a name: there are only as many of these as operations and reasons. */
  #countWithoutName({ action, status, errorCode }: DeniedRequest): void {
    const others = { tenantId: 0, tenant: "", signedIn: false, actor: "", entity: "", entityIds: [], scheme: "", address: "" };
    const deniedRequest: DeniedRequest = { ...others, action, status, errorCode };
    const name = JSON.stringify(deniedRequest);
    const known = this.#counted.get(name);
    if (known === undefined) this.#count(name, deniedRequest, "");
    else known.times += 1;
  }
}

/** Returns true if another attempt would fail too. An internal error may be temporary. */
function isHopeless(error: unknown): boolean {
  const { code } = toHarrierError(error);
  return !codes[code].retryable && code !== "internal";
}
