import { HarrierError } from "@harrier/errors";
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters } from "jose";

interface Deps {
  /** Asks the issuer; gives up by itself within seconds. */
  read(): Promise<JSONWebKeySet>;
  onFailed(error: unknown): void;
  now(): number;
}

type Find = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Keys that are older are asked for again, beside the requests: what was withdrawn is forgotten within this. */
const freshMs = 5 * 60_000;
/** Between two questions to one issuer, whatever key ids tokens make up. */
const coolDownMs = 5_000;

/**
 * The keys of one issuer. Those once read stay good while it cannot be asked; only a token of a key that is not known waits for an answer.
 */
export class IssuerKeys {
  readonly #deps: Deps;
  #find: Find | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The key of a token. Rejects with an error of jose where the issuer has none of it, with `unavailable` where no keys are known. */
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

  /** Asks beside the requests where what is known is old. */
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
