import { HarrierError } from "@harrier/errors";
import { type AddressList, networkOf } from "../client/address-list.ts";
import { RateCounters } from "./rate-counters.ts";
import { VerifiedCredentials } from "./verified-credentials.ts";

/** Failed sign-ins a minute; 0 means no limit. */
export interface FailureLimits {
  /** Failures of one user, client or device, from one address. */
  readonly account: number;
  /** Failures of one user, from all addresses. */
  readonly user: number;
  /** Failures of all users and clients, and of all devices, from one address. */
  readonly address: number;
  readonly deviceAddress: number;
}

interface Options {
  readonly limits: FailureLimits;
  /** The clients whose address is not limited; their users still are. */
  readonly exempt: AddressList;
  readonly now: () => number;
}

/** An attempt to sign in with a credential that is not cached. */
export interface Attempt {
  readonly kind: "user" | "client" | "device";
  readonly address: string;
  readonly hidden: boolean;
  /** For a user or a device its name with its tenant, for a client its id, as it was given: whether it exists does not matter. */
  readonly account: string;
  /** The digests of its credentials, each with what it is valid for, and that of a user with its network. */
  readonly credentials: readonly string[];
}

/** The outcome of an attempt: exactly one of these must be called, once. */
export interface Outcome {
  succeeded(credential: string): void;
  failed(): void;
  /** There is no result, because the owner of the credential was unavailable. */
  abandoned(): void;
}

const windowMs = 60_000;
const groups = { account: 0, user: 1, address: 2, deviceAddress: 3, client: 4 } as const;

interface Counted {
  readonly key: number;
  readonly limit: number;
}

/**
 * Throttles failed sign-ins (for example 10,000 in a minute) in memory of a fixed size. Only failures count, and only where another service must
 * verify the credential: a cached principal never comes here. A verified credential may always be tried again, so that nobody is locked out by the
 * failures of others, neither by their name nor by a shared address; that of a user counts as such from the network where it was verified. An attempt of a user counts before it is answered, or a thousand attempts at
 * once would pass; a success is subtracted again. An attempt of a device counts afterwards: a whole site may come back at once, and its credentials
 * cannot be guessed. Nor can those of a client: it has no limit over all addresses either, which would only serve to lock it out.
 */
export class SignInFailures {
  readonly #options: Options;
  readonly #counters = new RateCounters({ windowMs });
  readonly #verified = new VerifiedCredentials();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws tooManyRequests with the seconds to wait, the same whether the account exists or not. */
  begin(attempt: Attempt): Outcome & { readonly verified: boolean } {
    const counted = this.#countedFor(attempt);
    const verified = attempt.credentials.some((credential) => this.#verified.has(credential));
    if (!verified) this.#refuse(counted);
    const ahead = attempt.kind === "user" && !verified;
    if (ahead) this.#count(counted);
    const release = () => {
      if (ahead) for (const { key } of counted) this.#counters.release(key, this.#options.now());
    };
    return {
      verified,
      succeeded: (credential) => {
        release();
        this.#verified.add(credential);
      },
      failed: () => {
        for (const credential of attempt.credentials) this.#verified.delete(credential);
        if (!ahead) this.#count(counted);
      },
      abandoned: release,
    };
  }

  #refuse(counted: readonly Counted[]): void {
    const now = this.#options.now();
    const wait = Math.max(0, ...counted.map(({ key, limit }) => this.#counters.waitMs(key, limit, now)));
    if (wait > 0) throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": String(Math.ceil(wait / 1_000)) } });
  }

  #count(counted: readonly Counted[]): void {
    const now = this.#options.now();
    for (const { key, limit } of counted) this.#counters.take(key, limit, now);
  }

  #countedFor({ kind, address, hidden, account }: Attempt): Counted[] {
    const { limits, exempt } = this.#options;
    const near = !hidden && exempt.includes(address);
    // The tests and tools of one host have credentials that cannot be guessed.
    if (near && kind === "device") return [];
    const network = networkOf(address);
    const keys = this.#counters;
    const group = kind === "client" ? groups.client : groups.account;
    const all = [{ key: keys.keyOf(`${network} ${account}`, group), limit: limits.account }];
    if (kind === "user") all.push({ key: keys.keyOf(account, groups.user), limit: limits.user });
    if (kind === "device") all.push({ key: keys.keyOf(network, groups.deviceAddress), limit: limits.deviceAddress });
    else if (!near) all.push({ key: keys.keyOf(network, groups.address), limit: limits.address });
    return all.filter(({ limit }) => limit > 0);
  }
}
