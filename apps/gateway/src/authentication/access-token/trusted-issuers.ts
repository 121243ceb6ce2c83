import type { Log } from "@harrier/service";
import { IssuerKeys } from "./issuer-keys.ts";
import { parseIssuers } from "./issuers.ts";
import { readKeys } from "./read-keys.ts";
import { TokenVerifier, type TrustedIssuer } from "./token-verifier.ts";

interface Settings {
  HARRIER_OIDC_ISSUERS: string;
  HARRIER_CREDENTIAL_TTL: number;
}

interface Trusted {
  tokens: TokenVerifier;
  askForKeys(): Promise<unknown>;
  issuers: readonly TrustedIssuer[];
}

/** Makes the verifier for all trusted issuers, and the function that reads the keys of all of them. */
export function tokenVerifier(settings: Settings, log: Pick<Log, "warn">): Trusted {
  const issuers = parseIssuers(settings.HARRIER_OIDC_ISSUERS).map((issuer): TrustedIssuer & { keys: IssuerKeys } => {
    const keys = new IssuerKeys({
      read: () => readKeys(issuer),
      onFailed: (err) => log.warn({ err, issuer: issuer.issuer }, "an issuer cannot be asked for its keys"),
      now: Date.now,
    });
    return { ...issuer, keys };
  });
  return {
    issuers,
    tokens: new TokenVerifier({ issuers, ttlSeconds: settings.HARRIER_CREDENTIAL_TTL, now: Date.now }),
    askForKeys: () => Promise.all(issuers.map(({ keys }) => keys.ask())),
  };
}
