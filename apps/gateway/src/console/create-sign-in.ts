import type { KeySet } from "@harrier/rpc";
import type { TrustedIssuer } from "../authentication/access-token/token-verifier.ts";
import { hasClient, type Provider, providerId } from "../authentication/authorization-code/provider.ts";
import { Transactions } from "../authentication/authorization-code/transaction.ts";
import { InFlight } from "../limits/in-flight.ts";
import type { ConsoleConfig, SignInIssuer } from "./console-config.ts";
import type { SignInRouteDeps } from "./sign-in-routes.ts";

/** An issuer that hangs holds so many requests at most, each for some seconds. */
const maxUnderWay = 32;

interface Options extends Pick<SignInRouteDeps, "tokens" | "resolveToken"> {
  issuers: readonly TrustedIssuer[];
  keys: KeySet;
}

type Made = Pick<SignInRouteDeps, "providers" | "transactions" | "tokens" | "resolveToken" | "underWay">;

/** Makes what a browser's sign-in at an issuer needs. */
export function signInAtIssuers({ issuers, keys, tokens, resolveToken }: Options): Made {
  return {
    providers: issuers.filter(hasClient),
    transactions: new Transactions(keys),
    tokens,
    resolveToken,
    underWay: new InFlight(maxUnderWay),
  };
}

/** Says how people can sign in, for the page where they do. */
export function signInWays(issuers: readonly TrustedIssuer[]): ConsoleConfig["signIn"] {
  return { password: true, issuers: issuers.filter(hasClient).map(signInIssuer) };
}

function signInIssuer(provider: Provider): SignInIssuer {
  const { deviceId, name, scopes } = provider.client;
  const device = deviceId === undefined ? {} : { device: { issuer: provider.issuer, clientId: deviceId, scopes } };
  return { id: providerId(provider), name, ...device };
}
