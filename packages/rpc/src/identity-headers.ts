import { digestOf, type Identity, identityHeader, newNonce, signIdentity, unboundBody } from "./identity.ts";
import type { KeySet } from "./keys.ts";
import { onBehalfHeader, vouch } from "./on-behalf.ts";

export type HeadersOfIdentity = { [identityHeader]: string; [onBehalfHeader]?: string };

/**
 * The headers that tell a service who asks, for this one request: method, target with its query, and body. For a person the services that this
 * one calls on get the gateway's word too, so that none of them has to believe it who that is.
 * @param content The whole body, or `unboundBody` for one that nobody holds whole; absent where there is none.
 */
export function identityHeaders(keys: KeySet, identity: Identity, content?: Buffer | typeof unboundBody): HeadersOfIdentity {
  if (content === unboundBody) identity.body = unboundBody;
  else if (content !== undefined && content.length > 0) identity.body = digestOf(content);
  if (identity.method !== "GET" && identity.method !== "HEAD") identity.nonce = newNonce();
  const token = signIdentity(keys, identity);
  const headers: HeadersOfIdentity = { [identityHeader]: token };
  if (identity.kind !== "user") return headers;
  const words = vouch(keys, token, { holder: identity.audience, expiresAt: identity.expiresAt, transfer: content === unboundBody });
  if (words !== undefined) headers[onBehalfHeader] = words;
  return headers;
}
