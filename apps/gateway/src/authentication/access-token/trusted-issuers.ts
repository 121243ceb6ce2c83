import type { Log } from "@harrier/service";
import { IssuerKeys } from "./issuer-keys.ts";
import { parseIssuers } from "./issuers.ts";
import { readKeys } from "./read-keys.ts";
import { TokenVerifier, type TrustedIssuer } from "./token-verifier.ts";

interface Settings {
  HARRIER_OIDC_ISSUERS: string;
  HARRIER_CREDENTIAL_TTL: number;
}

/** Also while nobody signs in: the first who does with a key that was withdrawn meanwhile is refused. */
const keysEveryMs = 5 * 60_000;

/** The verifier of everybody whose tokens are believed here; their keys are asked for at once, so that the first user does not wait. */
export function tokenVerifier(settings: Settings, log: Pick<Log, "warn">): { tokens: TokenVerifier; stop(): void } {
  const issuers = parseIssuers(settings.HARRIER_OIDC_ISSUERS).map((issuer): TrustedIssuer & { keys: IssuerKeys } => {
    const keys = new IssuerKeys({
      read: () => readKeys(issuer),
      onFailed: (err) => log.warn({ err, issuer: issuer.issuer }, "an issuer cannot be asked for its keys"),
      now: Date.now,
    });
    void keys.ask();
    return { ...issuer, keys };
  });
  const timer = setInterval(() => {
    for (const { keys } of issuers) void keys.ask();
  }, keysEveryMs);
  return {
    tokens: new TokenVerifier({ issuers, ttlSeconds: settings.HARRIER_CREDENTIAL_TTL, now: Date.now }),
    stop: () => clearInterval(timer),
  };
}
