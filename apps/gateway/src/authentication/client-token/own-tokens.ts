import { hash, randomBytes } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import { decodeJwt, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { IssuerKeys } from "../access-token/issuer-keys.ts";

/** The claims of a verified token of our own token endpoint. */
export interface ClientToken {
  clientId: string;
  scopes: string[];
  /** It is higher for a client whose tokens were ended. */
  generation: number;
  /** It is equal for tokens with the same claims. */
  meaning: string;
  /** The time in epoch milliseconds. */
  expiresAt: number;
}

/** The issuer, audience and keys of our own token endpoint. */
export interface OwnIssuer {
  issuer: string;
  audience: string;
  jwks: JSONWebKeySet;
}

interface Deps {
  /** Asks management; fails within seconds if there is no answer. */
  read(): Promise<OwnIssuer>;
  onFailed(error: unknown): void;
  ttlSeconds: number;
  now(): number;
}

const algorithms = ["ES256"];
const clockSkewSeconds = 5;
const maxTokens = 10_000;

/** Verifies the access tokens of our own token endpoint (spec 000 §5.2; RFC 9068 §4). Management provides issuer and keys, so no setting has to. */
export class OwnTokens {
  readonly #keys: IssuerKeys;
  readonly #known: LRUCache<string, ClientToken>;
  readonly #salt = randomBytes(16).toString("latin1");
  readonly #now: () => number;
  #own: Pick<OwnIssuer, "issuer" | "audience"> | undefined;

  constructor({ read, onFailed, ttlSeconds, now }: Deps) {
    this.#now = now;
    this.#known = new LRUCache({ max: maxTokens, ttl: ttlSeconds * 1_000, perf: { now } });
    this.#keys = new IssuerKeys({
      read: async () => {
        const { issuer, audience, jwks } = await read();
        this.#own = { issuer, audience };
        return jwks;
      },
      onFailed,
      now,
    });
  }

  /**
   * Returns the claims of a token, at once for a known one; undefined if it is not ours. Any wrong token of ours gets the same error,
   * `unauthenticated`; without keys the error is `unavailable`.
   */
  verify(token: string): ClientToken | undefined | Promise<ClientToken | undefined> {
    const digest = hash("sha256", this.#salt + token, "binary");
    const known = this.#known.get(digest);
    if (known !== undefined && this.#now() < known.expiresAt) return known;
    const issuer = issuerOf(token);
    if (issuer === undefined) return undefined;
    if (this.#own !== undefined && issuer !== this.#own.issuer) {
      // Our issuer may have another name by now: the gateway is not notified, and no token of the former name would trigger a read.
      this.#keys.freshen();
      return undefined;
    }
    return this.#verify(token, { digest, issuer });
  }

  async #verify(token: string, { digest, issuer }: { digest: string; issuer: string }): Promise<ClientToken | undefined> {
    if (this.#own === undefined) await this.#keys.ask();
    const own = this.#own;
    if (own === undefined) throw new HarrierError("unavailable", "Whose the access token is cannot be found out.");
    if (own.issuer !== issuer) return undefined;
    const verified = meaningOf(await this.#verifySignature(token, own));
    this.#known.set(digest, verified);
    return verified;
  }

  async #verifySignature(token: string, { issuer, audience }: Pick<OwnIssuer, "issuer" | "audience">): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keys.find(header), {
        issuer,
        audience,
        algorithms,
        typ: "at+jwt",
        requiredClaims: ["exp", "sub", "scope", "gen"],
        clockTolerance: clockSkewSeconds,
        currentDate: new Date(this.#now()),
      });
      return payload;
    } catch (error) {
      throw error instanceof HarrierError ? error : new HarrierError("unauthenticated", undefined, { cause: error });
    }
  }
}

/** Reads the claims of a token that management signed, so their kinds are known. */
function meaningOf({ sub = "", scope, gen, exp = 0 }: JWTPayload): ClientToken {
  const scopes = String(scope).split(" ");
  const generation = Number(gen);
  return { clientId: sub, scopes, generation, meaning: JSON.stringify(["client", sub, generation, scopes]), expiresAt: exp * 1_000 };
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined; // it is no token at all
  }
}
