import type { IncomingHttpHeaders } from "node:http";
import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";
import { registerPermission } from "./gateway-token.ts";

/** The headers in which a proxy that ends TLS forwards what it knows of the client's certificate. */
export interface CertificateHeaders {
  /** The header of the common name. */
  readonly name: string;
  /** The headers of the issuers' hashes: with `%d` one for each from 1 on, without it one for all, with `-0`, `-1`, … beside it. */
  readonly issuer: string;
}

/** A client's certificate as a trusted proxy forwards it. */
export interface Certificate {
  readonly name: string;
  /** The hashes of its issuers, lower-case, comma separated; never empty. */
  readonly issuers: string;
}

/** Reads `Name-Header:Issuer-Header,…` (HARRIER_CERTIFICATE_HEADERS), or `none`. Throws for any other text. */
export function parseCertificateHeaders(text: string): CertificateHeaders[] {
  if (text.trim() === "none") return [];
  return text.split(",").map((part) => {
    const [, name, issuer] = /^([\w-]+):([\w-]+(?:%d)?)$/.exec(part.trim()) ?? [];
    if (name === undefined || issuer === undefined) throw new Error(`"${part.trim()}" is not of the form X-Common-Name:X-Issuer-Hash-%d`);
    return { name: name.toLowerCase(), issuer: issuer.toLowerCase() };
  });
}

/**
 * Reads the certificates in a request's headers, one at most for each family of headers (contract device.md §9.2). It is only for requests of trusted
 * peers, because anyone can write headers. Without an issuer there is no certificate, whatever the name.
 */
export function readCertificates(headers: IncomingHttpHeaders, families: readonly CertificateHeaders[]): Certificate[] {
  const found: Certificate[] = [];
  for (const family of families) {
    const name = headers[family.name];
    if (typeof name !== "string" || name === "") continue;
    const hashes = issuerHeaders(headers, family.issuer).flatMap((value) => value.split(/[;,]/));
    const issuers = new Set(hashes.map((hash) => hash.trim().toLowerCase()).filter((hash) => hash !== ""));
    if (issuers.size > 0) found.push({ name, issuers: [...issuers].join(",") });
  }
  return found;
}

function issuerHeaders(headers: IncomingHttpHeaders, issuer: string): string[] {
  const value = (name: string) => (headers[name] === undefined ? [] : [String(headers[name])]);
  const values = issuer.endsWith("%d") ? [] : [...value(issuer), ...value(`${issuer}-0`)];
  const numbered = issuer.endsWith("%d") ? issuer.slice(0, -2) : `${issuer}-`;
  // The first missing number ends the list.
  for (let n = 1, next = value(`${numbered}${n}`); next.length > 0; n++, next = value(`${numbered}${n}`)) values.push(...next);
  return values;
}

/** Makes the principal of a certificate. It names its device, which need not exist yet: it may register that one and no other. */
export function certificatePrincipal(device: VerifiedDevice, controllerId: string): Principal {
  const { tenantId, tenant } = device;
  return { tenantId, tenant, kind: "device", subject: controllerId, controllerId, permissions: [registerPermission] };
}
