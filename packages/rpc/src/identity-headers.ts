import { digestOf, type Identity, identityHeader, newNonce, signIdentity, unboundBody } from "./identity.ts";
import type { KeySet } from "./keys.ts";
import { delegate, onBehalfHeader } from "./on-behalf.ts";

export type HeadersOfIdentity = { [identityHeader]: string; [onBehalfHeader]?: string };

/**
 * Makes the headers that identify the principal to a service, for this one request: method, target with its query, and body. For a user or device
 * they hold the gateway's delegations for the services that this one calls, so that none of these has to trust it about the principal.
 * @param content The whole body, or `unboundBody` for one that is never in memory as a whole; absent without a body.
 */
export function identityHeaders(keys: KeySet, identity: Identity, content?: Buffer | typeof unboundBody): HeadersOfIdentity {
  if (content === unboundBody) identity.body = unboundBody;
  else if (content !== undefined && content.length > 0) identity.body = digestOf(content);
  if (identity.method !== "GET" && identity.method !== "HEAD") identity.nonce = newNonce();
  const token = signIdentity(keys, identity);
  const headers: HeadersOfIdentity = { [identityHeader]: token };
  if (identity.kind !== "user") return headers;
  const delegations = delegate(keys, token, {
    holder: identity.audience,
    expiresAt: identity.expiresAt,
    transfer: content === unboundBody,
  });
  if (delegations !== undefined) headers[onBehalfHeader] = delegations;
  return headers;
}
