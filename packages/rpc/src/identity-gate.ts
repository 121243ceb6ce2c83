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

export interface Requested extends Omit<Expected, "now"> {
  /** The identity of a change is valid for one request only. */
  readonly once: boolean;
}

/** The first accepted call after so long without a denial ends the outage. */
const quietMs = 10_000;
/** At most so many reasons of one outage are logged, each once. */
const maxReasons = 20;

interface Outage {
  readonly since: number;
  last: number;
  count: number;
  readonly told: Set<string>;
}

/**
 * Verifies the requests to a service: identities must be signed for this very request by the service that they name, and a change is accepted once.
 * It logs each reason once when denials begin, and once when they are over, because a wrong clock refuses every request.
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

  /** Answers the identity of a request; throws `identityRefused`, or `unavailable` if there are more changes than it can remember. */
  verify(token: string | undefined, requested: Requested): VerifiedIdentity {
    const { audience, keys } = this.#options;
    const now = this.#now();
    return this.guard(() => {
      const { method, path, also = "" } = requested;
      const identity = verifyIdentity(keys, audience, token, { method, path, also, now });
      if (requested.once) this.#recordOnce(identity, now);
      if (this.#outage !== undefined && now - this.#outage.last > quietMs) this.#recovered(this.#outage, now);
      return identity;
    });
  }

  /** Runs a further check of an identity; what it refuses is counted and logged as in `verify`. */
  guard<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      if (error instanceof HarrierError && error.code === "identityRefused") this.#refused(error);
      throw error;
    }
  }

  /** Makes the error for a request with a verified identity that is wrong otherwise; it is counted and logged as in `verify`. */
  refuse(reason: string, caller?: string): HarrierError {
    const error = refused(reason, caller);
    this.#refused(error);
    return error;
  }

  #recordOnce(identity: VerifiedIdentity, now: number): void {
    if (identity.nonce === undefined) throw refused("a change without a nonce", identity.caller);
    const recorded = this.#seen.record(identity.mac, identity.expiresAt, now);
    if (recorded === "again") throw refused("used before", identity.caller);
    if (recorded === "full") throw new HarrierError("unavailable", undefined, { headers: { "retry-after": "1" } });
  }

  #refused(error: HarrierError): void {
    const now = this.#now();
    this.#outage ??= { since: now, last: now, count: 0, told: new Set() };
    this.#outage.last = now;
    this.#outage.count += 1;
    const { told } = this.#outage;
    const cause = error.cause instanceof IdentityRefusal ? error.cause : undefined;
    // seconds and names are left out of the reason, because they differ from one request to the next
    const reason = `${cause?.caller ?? ""} ${(cause?.message ?? error.message).replaceAll(/\d+/g, "#")}`;
    if (told.has(reason) || told.size === maxReasons) return;
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
