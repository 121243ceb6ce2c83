import type { IncomingMessage } from "node:http";
import type { Route } from "@harrier/contracts";
import { type Identity, identityHeaders, identityLifeMs, type KeySet, type Principal, type ServiceName, unboundBody } from "@harrier/rpc";
import { hasBody } from "./read-body.ts";

interface Deps {
  readonly keys: KeySet;
  now(): number;
}

export interface ToSign {
  readonly principal: Principal;
  readonly signIn: { readonly route: Route; readonly rid: string; readonly traceparent?: string };
  readonly baseUrl: string;
  readonly transfer: boolean;
  /** The whole body; absent if there is none, and for transfers. */
  readonly body: Buffer | undefined;
}

/**
 * Writes the principal into the request's headers, for its service and this one request: method, target with its query, and body. For a user or
 * device it adds delegations for the services that this one calls, so that none of these has to trust it about the principal.
 */
export function signRequest(deps: Deps, req: IncomingMessage, { principal, signIn, baseUrl, transfer, body }: ToSign): void {
  const { route } = signIn;
  const identity: Identity = {
    ...principal,
    rid: signIn.rid,
    baseUrl,
    audience: route.service as ServiceName,
    method: req.method ?? "GET",
    path: req.url ?? "/",
    expiresAt: deps.now() + identityLifeMs,
    caller: "gateway",
  };
  if (signIn.traceparent !== undefined) identity.traceparent = signIn.traceparent;
  Object.assign(req.headers, identityHeaders(deps.keys, identity, transfer && hasBody(req) ? unboundBody : body));
}
