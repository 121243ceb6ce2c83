import { HarrierError } from "@harrier/errors";
import { type AddressList, networkOf } from "../client/address-list.ts";
import { ProvenCredentials } from "./proven-credentials.ts";
import { RateCounters } from "./rate-counters.ts";

/** Failed sign-ins a minute; 0: as many as come. */
export interface FailureLimits {
  /** Of one user, client or device, from one address. */
  readonly account: number;
  /** Of one user, from all addresses. */
  readonly user: number;
  /** Of all users and clients, and of all devices, from one address. */
  readonly address: number;
  readonly deviceAddress: number;
}

interface Options {
  readonly limits: FailureLimits;
  /** Clients whose address is not limited; their users are all the same. */
  readonly exempt: AddressList;
  readonly now: () => number;
}

/** Somebody who wants to sign in and is not known yet. */
export interface Attempt {
  readonly kind: "user" | "client" | "device";
  readonly address: string;
  readonly hidden: boolean;
  /** Of a user or a device with its tenant, of a client its id, as it was given: whether there is one plays no part. */
  readonly account: string;
  /** Digests of what it shows, each with what it is good for. */
  readonly credentials: readonly string[];
}

/** What came of an attempt: call one of them, once. */
export interface Outcome {
  succeeded(credential: string): void;
  failed(): void;
  /** Nobody could say: the owner could not be asked. */
  abandoned(): void;
}

const windowMs = 60_000;
const groups = { account: 0, user: 1, address: 2, deviceAddress: 3, client: 4 } as const;

interface Counted {
  readonly key: number;
  readonly limit: number;
}

/**
 * Slows down who tries credentials (issue of the door: "10,000 wrong tries in a minute"), in memory of a fixed size. Only failures count, and
 * only where somebody must be asked: who is known already never comes here. A credential that was right before may always be tried again,
 * so that nobody is locked out by the wrong tries of others, neither by his name nor by the address that he shares with them.
 *
 * What a user tries counts before it is answered, or a thousand tries at once would pass; what is right is given back. A device's counts
 * after: a whole site may come back at once, and its credentials cannot be guessed. Nor can a client's: it has no limit over all addresses
 * either, which would only serve to lock it out.
 */
export class SignInFailures {
  readonly #options: Options;
  readonly #counters = new RateCounters({ windowMs });
  readonly #proven = new ProvenCredentials();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws tooManyRequests with the seconds to wait, the same whether there is such an account or not. */
  begin(attempt: Attempt): Outcome & { readonly proven: boolean } {
    const counted = this.#countedFor(attempt);
    const proven = attempt.credentials.some((credential) => this.#proven.has(credential));
    if (!proven) this.#refuse(counted);
    const ahead = attempt.kind === "user" && !proven;
    if (ahead) this.#count(counted);
    const giveBack = () => {
      if (ahead) for (const { key } of counted) this.#counters.giveBack(key, this.#options.now());
    };
    return {
      proven,
      succeeded: (credential) => {
        giveBack();
        this.#proven.add(credential);
      },
      failed: () => {
        for (const credential of attempt.credentials) this.#proven.delete(credential);
        if (!ahead) this.#count(counted);
      },
      abandoned: giveBack,
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
    // the tests and tools of one host, with credentials that nobody guesses
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
