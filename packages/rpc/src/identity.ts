import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import type { KeySet } from "./keys.ts";
import type { ServiceName } from "./services.ts";

/** Who acts: what the gateway found out, and what the row's owner enforces. */
export interface Principal {
  tenantId: number;
  tenant: string;
  kind: "user" | "device" | "service";
  subject: string;
  /** An issuer of access tokens gave the subject its name: a user of that name here may be somebody else. */
  external?: true;
  controllerId?: string;
  permissions: readonly string[];
  /** Permission -> target type ids it is limited to. */
  targetTypeScopes?: Record<string, readonly number[]>;
}

/** A principal bound to one request to one service for a short while. */
export interface Identity extends Principal {
  rid: string;
  traceparent?: string;
  /** Public address that the client used, e.g. `http://127.0.0.1:8080`; links are built from it. */
  baseUrl: string;
  audience: ServiceName;
  method: string;
  /** Request target without its query, undecoded: `identityPath(req.url)`. For gRPC the full method name. */
  path: string;
  expiresAt: number;
  caller: ServiceName;
}

/** Header (and gRPC metadata key) of the signed identity. */
export const identityHeader = "x-harrier-identity";
/** Longest life that a verifier accepts. */
export const identityLifeMs = 30_000;
/** A signer's clock may run ahead of the verifier's by this much. */
const clockSkewMs = 5_000;

/** The part of a request target that an identity is bound to. */
export function identityPath(url: string): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

// Short names, because the payload is built and parsed on every poll. Audience, method and path are under the signature
// but not in it: the verifier knows them.
interface Payload {
  t: number;
  n: string;
  k: Principal["kind"];
  /** Absent where it is the controller id. */
  s?: string;
  a?: 1;
  c?: string;
  p: readonly string[];
  y?: Record<string, readonly number[]>;
  r: string;
  x?: string;
  b: string;
  e: number;
  f: ServiceName;
}

const version = "v2";

/** Signs an identity for its audience, method and path: `v2.<key id>.<payload>.<hmac-sha256>`, both parts base64url. */
export function signIdentity(keys: KeySet, identity: Identity): string {
  const ring = keys.get(identity.audience);
  if (ring === undefined) throw new Error(`no identity key for ${identity.audience}`);
  const payload: Payload = {
    t: identity.tenantId,
    n: identity.tenant,
    k: identity.kind,
    p: identity.permissions,
    r: identity.rid,
    b: identity.baseUrl,
    e: identity.expiresAt,
    f: identity.caller,
  };
  if (identity.subject !== identity.controllerId) payload.s = identity.subject;
  if (identity.external) payload.a = 1;
  if (identity.controllerId !== undefined) payload.c = identity.controllerId;
  if (identity.targetTypeScopes !== undefined) payload.y = identity.targetTypeScopes;
  if (identity.traceparent !== undefined) payload.x = identity.traceparent;
  const signed = `${version}.${ring.first.id}.${Buffer.from(JSON.stringify(payload)).toString("base64url")}`;
  return `${signed}.${mac(ring.first.secret, bound(signed, identity.audience, identity))}`;
}

export interface Expected {
  readonly method: string;
  readonly path: string;
  readonly now: number;
}

/** Verifies a token for this audience, method and path; anything wrong with it is one error: `unauthenticated`. */
export function verifyIdentity(keys: KeySet, audience: ServiceName, token: string | undefined, expected: Expected): Identity {
  if (token === undefined) throw refused("no identity was given");
  const signatureAt = token.lastIndexOf(".");
  const payloadAt = token.lastIndexOf(".", signatureAt - 1);
  if (payloadAt < version.length + 1 || !token.startsWith(`${version}.`)) throw refused("not an identity");
  const secret = keys.get(audience)?.byId.get(token.slice(version.length + 1, payloadAt));
  if (secret === undefined) throw refused("unknown key");
  const given = Buffer.from(token.slice(signatureAt + 1));
  const right = Buffer.from(mac(secret, bound(token.slice(0, signatureAt), audience, expected)));
  if (given.length !== right.length || !timingSafeEqual(given, right)) throw refused("wrong signature, or signed for another request");
  // signed by one of us, so its shape is known
  const payload = JSON.parse(Buffer.from(token.slice(payloadAt + 1, signatureAt), "base64url").toString()) as Payload;
  if (payload.e <= expected.now) throw refused("expired");
  if (payload.e > expected.now + identityLifeMs + clockSkewMs) throw refused("too long a life");
  return toIdentity(payload, audience, expected);
}

function toIdentity(payload: Payload, audience: ServiceName, { method, path }: Expected): Identity {
  const identity: Identity = {
    tenantId: payload.t,
    tenant: payload.n,
    kind: payload.k,
    subject: payload.s ?? payload.c ?? "",
    permissions: payload.p,
    rid: payload.r,
    baseUrl: payload.b,
    audience,
    method,
    path,
    expiresAt: payload.e,
    caller: payload.f,
  };
  if (payload.a !== undefined) identity.external = true;
  if (payload.c !== undefined) identity.controllerId = payload.c;
  if (payload.y !== undefined) identity.targetTypeScopes = payload.y;
  if (payload.x !== undefined) identity.traceparent = payload.x;
  return identity;
}

/** Principal of a service that acts for itself, e.g. the gateway that verifies a credential or a relay. */
export function servicePrincipal(service: ServiceName, tenant?: { id: number; name: string }): Principal {
  return { tenantId: tenant?.id ?? 0, tenant: tenant?.name ?? "", kind: "service", subject: service, permissions: [] };
}

/** All that the signature covers. No part holds a line break, so none can be taken for another. */
function bound(signed: string, audience: ServiceName, request: { method: string; path: string }): string {
  return `${signed}\n${audience}\n${request.method}\n${request.path}`;
}

// as text: twice as fast as a Buffer that is then encoded (2.7 against 5.1 µs when measured)
function mac(secret: KeyObject, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

/** The reason is for our log (`cause`); the caller learns nothing but the refusal. */
function refused(reason: string): HarrierError {
  return new HarrierError("unauthenticated", undefined, { cause: new Error(`identity: ${reason}`) });
}
