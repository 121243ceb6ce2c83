import { HarrierError } from "@harrier/errors";
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters } from "jose";

interface Deps {
  /** Asks the issuer; fails within seconds if there is no answer. */
  read(): Promise<JSONWebKeySet>;
  onFailed(error: unknown): void;
  now(): number;
}

type Find = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Older keys are read again, beside the requests: a withdrawn key is evicted within this time. */
const freshMs = 5 * 60_000;
/** The pause between two reads from one issuer, whatever key ids tokens name. */
const coolDownMs = 5_000;

/** Caches the keys of one issuer. Keys that were read stay valid while it cannot be asked; only a token of an unknown key waits for an answer. */
export class IssuerKeys {
  readonly #deps: Deps;
  #find: Find | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Finds the key of a token. Rejects with an error of jose if the issuer does not have it, with `unavailable` if no keys are known. */
  async find(header: JWSHeaderParameters): Promise<CryptoKey> {
    if (this.#find === undefined) await this.ask();
    else this.freshen();
    const known = this.#find;
    if (known === undefined) throw new HarrierError("unavailable", "The issuer of the access token cannot be asked for its keys.");
    try {
      return await known(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.ask();
      if (this.#find === known) throw error;
      return await (this.#find as Find)(header);
    }
  }

  /** Reads old keys again beside the requests. */
  freshen(): void {
    if (this.#deps.now() - this.#readAt > freshMs) void this.ask();
  }

  /** Asks the issuer unless it was asked a moment ago; never rejects. */
  ask(): Promise<void> {
    const now = this.#deps.now();
    if (this.#asking === undefined && now - this.#askedAt >= coolDownMs) {
      this.#askedAt = now;
      this.#asking = this.#read().finally(() => {
        this.#asking = undefined;
      });
    }
    return this.#asking ?? Promise.resolve();
  }

  async #read(): Promise<void> {
    try {
      this.#find = createLocalJWKSet(await this.#deps.read());
      this.#readAt = this.#deps.now();
    } catch (error) {
      this.#deps.onFailed(error);
    }
  }
}
