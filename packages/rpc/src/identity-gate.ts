import { HarrierError } from "@harrier/errors";
import { type Expected, IdentityRefusal, refused, type VerifiedIdentity, verifyIdentity } from "./identity.ts";
import type { KeySet } from "./keys.ts";
import { SeenRequests } from "./seen-requests.ts";
import type { ServiceName } from "./services.ts";
import type { RpcLog } from "./types.ts";

export interface GateOptions {
  readonly audience: ServiceName;
  readonly keys: KeySet;
  readonly log: RpcLog;
  readonly now?: () => number;
}

export interface Asked extends Omit<Expected, "now"> {
  /** A change: its identity is worth one request. */
  readonly once: boolean;
}

/** So long without a refusal, and what is accepted next ends the outage. */
const quietMs = 10_000;
/** Reasons that are told of one outage, each once. */
const mostReasons = 20;

interface Outage {
  readonly since: number;
  last: number;
  count: number;
  readonly told: Set<string>;
}

/**
 * What a service lets in: identities that are signed for this very request by who they say, and changes once. Tells its log once of each
 * reason when it begins to refuse and once when it is over, however many are refused meanwhile: a clock that is off refuses every request.
 */
export class IdentityGate {
  readonly #options: GateOptions;
  readonly #now: () => number;
  readonly #seen = new SeenRequests();
  #outage: Outage | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** The identity of a request; throws `identityRefused`, or `unavailable` when more changes come than can be remembered. */
  verify(token: string | undefined, asked: Asked): VerifiedIdentity {
    const { audience, keys } = this.#options;
    const now = this.#now();
    return this.guard(() => {
      const { method, path, also = "" } = asked;
      const identity = verifyIdentity(keys, audience, token, { method, path, also, now });
      if (asked.once) this.#noteOnce(identity, now);
      if (this.#outage !== undefined && now - this.#outage.last > quietMs) this.#recovered(this.#outage, now);
      return identity;
    });
  }

  /** Runs a further check of an identity; what it refuses counts and is told like what `verify` refuses. */
  guard<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      if (error instanceof HarrierError && error.code === "identityRefused") this.#refused(error);
      throw error;
    }
  }

  /** The error for what is wrong with a verified identity's request; counted and told like what `verify` refuses. */
  refuse(reason: string, caller?: string): HarrierError {
    const error = refused(reason, caller);
    this.#refused(error);
    return error;
  }

  #noteOnce(identity: VerifiedIdentity, now: number): void {
    if (identity.nonce === undefined) throw refused("a change without a nonce", identity.caller);
    const noted = this.#seen.note(identity.mac, identity.expiresAt, now);
    if (noted === "again") throw refused("used before", identity.caller);
    if (noted === "full") throw new HarrierError("unavailable", undefined, { headers: { "retry-after": "1" } });
  }

  #refused(error: HarrierError): void {
    const now = this.#now();
    this.#outage ??= { since: now, last: now, count: 0, told: new Set() };
    this.#outage.last = now;
    this.#outage.count += 1;
    const { told } = this.#outage;
    const cause = error.cause instanceof IdentityRefusal ? error.cause : undefined;
    // seconds and names in a reason differ from one request to the next
    const reason = `${cause?.caller ?? ""} ${(cause?.message ?? error.message).replaceAll(/\d+/g, "#")}`;
    if (told.has(reason) || told.size === mostReasons) return;
    told.add(reason);
    this.#options.log.warn(
      { reason: cause?.message ?? error.message, caller: cause?.caller, audience: this.#options.audience },
      "a request between services is refused and answered 503: compare keys and clocks; further ones are only counted",
    );
  }

  #recovered(outage: Outage, now: number): void {
    this.#outage = undefined;
    const { audience } = this.#options;
    this.#options.log.info({ audience, refused: outage.count, ms: now - outage.since }, "requests between services are accepted again");
  }
}
