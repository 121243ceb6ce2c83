import type { JSONWebKeySet } from "jose";
import type { Issuer } from "./issuers.ts";

const withinMs = 3_000;
const maxBytes = 1024 * 1024;

/**
 * Reads the keys of an issuer, from the configured address or the one of its discovery document (OpenID Connect Discovery §4); 3 s in all.
 */
export async function readKeys({ issuer, jwksUri }: Pick<Issuer, "issuer" | "jwksUri">): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(withinMs);
  return (await readJson(jwksUri ?? (await discover(issuer, signal)), signal)) as JSONWebKeySet;
}

/** Reads the discovery document of an issuer (OpenID Connect Discovery §4); rejects if it is that of another one. */
export async function readDiscovery(issuer: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const document = (await readJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, signal)) as Record<
    string,
    unknown
  > | null;
  // Otherwise the document of one issuer could impersonate another one (§4.3).
  if (document?.["issuer"] !== issuer) throw new Error(`the discovery of ${issuer} is that of ${String(document?.["issuer"])}`);
  return document;
}

async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const uri = (await readDiscovery(issuer, signal))["jwks_uri"];
  if (typeof uri !== "string" || !URL.canParse(uri)) throw new Error(`the discovery of ${issuer} names no jwks_uri`);
  // A document that came encrypted must not lead to an unencrypted read of keys.
  if (issuer.startsWith("https:") && !uri.startsWith("https:"))
    throw new Error(`the discovery of ${issuer} names a jwks_uri without https`);
  return uri;
}

async function readJson(url: string, signal: AbortSignal): Promise<unknown> {
  const answer = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`${url} answers ${answer.status}`);
  }
  return readJsonAnswer(answer, url);
}

/** Reads the JSON of an answer, up to a maximum of bytes. */
export async function readJsonAnswer(answer: Response, url: string): Promise<unknown> {
  let size = 0;
  const parts: Uint8Array[] = [];
  for await (const part of answer.body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new Error(`${url} answers more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}
