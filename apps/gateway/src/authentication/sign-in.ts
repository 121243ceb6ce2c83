import type { Route } from "@harrier/contracts";
import { toHarrierError } from "@harrier/errors";
import type { Client, Principal } from "@harrier/rpc";
import type { SignInFailures } from "../limits/sign-in-failures.ts";
import type { SignInLimiter } from "../limits/sign-in-limiter.ts";
import { authenticateDeviceToken } from "./access-token/authenticate-token.ts";
import type { TokenVerifier } from "./access-token/token-verifier.ts";
import { authenticateDevice, type DeviceSignIn } from "./authenticate-device.ts";
import { authenticateUser, type UserSignIn } from "./authenticate-user.ts";
import { authenticateDeviceClient, type ClientDeps } from "./client-token/authenticate-client.ts";
import { parseBearer } from "./credential.ts";
import type { DeviceCache } from "./device-cache.ts";
import { firstDefined } from "./first-defined.ts";
import type { KeyUses } from "./key-uses.ts";
import type { PrincipalCache } from "./principal-cache.ts";
import type { Sessions } from "./session/sessions.ts";

export interface SignInDeps
  extends Pick<Client<"harrier.management.v1.IdentityService">, "signIn" | "resolveToken" | "signInClient">,
    Pick<Client<"harrier.controller.v1.DeviceIdentityService">, "verifyDevice"> {
  devices: DeviceCache;
  principals: PrincipalCache;
  tokens: Pick<TokenVerifier, "verify">;
  own: ClientDeps["own"];
  uses: Pick<KeyUses, "record">;
  sessions: Pick<Sessions, "authenticate">;
  failures: Pick<SignInFailures, "begin">;
  /** The same as in authenticateUser. */
  limiter: Pick<SignInLimiter, "run">;
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

interface Request extends UserSignIn, Pick<DeviceSignIn, "certificates"> {
  route: Pick<Route, "interface" | "credential">;
  params: Readonly<Record<string, string>>;
}

/** Authenticates a request, by any scheme of the interface to which the route belongs. */
export function signIn(deps: SignInDeps, request: Request): Principal | Promise<Principal> {
  if (request.route.interface !== "device") return authenticateUser({ ...deps, cache: deps.principals }, request);
  const device: DeviceSignIn = {
    ...request,
    tenant: request.params["tenant"] ?? "",
    controllerId: request.params["controllerId"] ?? "",
    download: request.route.credential === "download",
  };
  const token = parseBearer(request.authorization);
  const byDevice = () => authenticateDevice({ ...deps, cache: deps.devices }, device);
  if (token === undefined) return byDevice();
  const tokenDeps = { ...deps, cache: deps.principals };
  const byToken = () =>
    firstDefined(authenticateDeviceClient(tokenDeps, { ...device, token }), () => authenticateDeviceToken(tokenDeps, { ...device, token }));
  return request.certificates === undefined ? byToken() : firstOf(byDevice, byToken);
}

/** Tries the second if the first fails: an invalid certificate does not end the chain (contract device.md §9). */
async function firstOf(first: () => Principal | Promise<Principal>, second: () => Principal | Promise<Principal>): Promise<Principal> {
  try {
    return await first();
  } catch (error) {
    // A throttled one does not end it either.
    if (!["unauthenticated", "tooManyRequests"].includes(toHarrierError(error).code)) throw error;
    return second();
  }
}
