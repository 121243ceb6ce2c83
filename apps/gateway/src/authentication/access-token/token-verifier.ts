import { hash, randomBytes } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { readClaims, type TokenFacts } from "./claims.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import type { Issuer } from "./issuers.ts";

/** An issuer and its keys. */
export type TrustedIssuer = Issuer & { readonly keys: Pick<IssuerKeys, "find"> };

export interface VerifiedToken extends TokenFacts {
  /** The trusted issuer that signed it. */
  issuer: string;
  /** It is equal for tokens with the same claims. */
  meaning: string;
  /** The time in epoch milliseconds. */
  expiresAt: number;
}

/** Only public keys are accepted: with a shared secret every verifier could issue tokens, and `none` is no signature. */
export const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];
/** These are the value of RFC 9068 §2.1, and those of older providers. Tokens of other types (logout, security events) are denied. */
const types = /^(?:application\/)?(?:at\+jwt|jwt)$/i;
const clockSkewSeconds = 5;
const maxTokens = 10_000;

/**
 * Verifies access tokens (spec 000 §5.1; RFC 9068 §4): signature, issuer, audience, `exp`, `nbf`. A verified token is cached by its digest until it
 * expires, but no longer than other credentials, since its key may have been withdrawn.
 */
export class TokenVerifier {
  readonly #issuers: ReadonlyMap<string, TrustedIssuer>;
  readonly #known: LRUCache<string, VerifiedToken>;
  readonly #salt = randomBytes(16).toString("latin1");
  readonly #now: () => number;

  constructor({ issuers, ttlSeconds, now }: { issuers: readonly TrustedIssuer[]; ttlSeconds: number; now: () => number }) {
    this.#issuers = new Map(issuers.map((issuer) => [issuer.issuer, issuer]));
    this.#known = new LRUCache({ max: maxTokens, ttl: ttlSeconds * 1_000, perf: { now } });
    this.#now = now;
  }

  /** Verifies a token, at once if it is known. Any wrong token gets the same error, `unauthenticated`; without keys the error is `unavailable`. */
  verify(token: string): VerifiedToken | Promise<VerifiedToken> {
    const digest = hash("sha256", this.#salt + token, "binary");
    const known = this.#known.get(digest);
    if (known !== undefined && this.#now() < known.expiresAt) return known;
    return this.#verify(token, digest);
  }

  async #verify(token: string, digest: string): Promise<VerifiedToken> {
    const issuer = this.#issuerOf(token);
    const claims = await verifySignature(token, issuer, this.#now());
    const facts = readClaims(issuer, claims);
    if (facts === undefined) throw refused(new Error("no tenant or no subject"));
    const { tenant, subject, user, scopes } = facts;
    const verified: VerifiedToken = {
      ...facts,
      issuer: issuer.issuer,
      meaning: JSON.stringify([issuer.issuer, tenant.toUpperCase(), subject, user, scopes]),
      expiresAt: (claims.exp ?? 0) * 1_000,
    };
    this.#known.set(digest, verified);
    return verified;
  }

  /** Finds the issuer that a token names, before any other work is done for it. */
  #issuerOf(token: string): TrustedIssuer {
    try {
      const { alg, typ } = decodeProtectedHeader(token);
      const { iss } = decodeJwt(token);
      const issuer = this.#issuers.get(iss ?? "");
      if (issuer !== undefined && algorithms.includes(alg ?? "") && (typ === undefined || types.test(typ))) return issuer;
    } catch {
      // it is no token at all
    }
    throw refused(new Error("no access token of a trusted issuer"));
  }
}

async function verifySignature(token: string, { issuer, audiences, keys }: TrustedIssuer, now: number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, (header) => keys.find(header), {
      issuer,
      audience: [...audiences],
      algorithms,
      requiredClaims: ["exp"],
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    throw error instanceof HarrierError ? error : refused(error);
  }
}

/** The reason is for the log; the client sees only the denial. */
function refused(cause: unknown): HarrierError {
  return new HarrierError("unauthenticated", undefined, { cause });
}
