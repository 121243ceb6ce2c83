import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Certificate } from "../authentication/certificate.ts";

/** A certificate has two or three issuers. */
const maxIssuers = 16;

interface Shown {
  readonly certificate: Certificate | undefined;
  /** The time in epoch ms at which it expires. */
  readonly until: number;
}

/**
 * Finds the certificate that a client of our own TLS port has shown. OpenSSL has verified it up to one of the authorities; this reads its name and
 * its issuers, once for each connection: TLS sessions are not resumed, so they stay the same as long as it lasts.
 */
export class ClientCertificates {
  readonly #now: () => number;
  readonly #shown = new WeakMap<Socket, Shown>();
  #authorities: readonly X509Certificate[];
  /** The connections whose handshake used the present authorities. */
  #connected = new WeakSet<Socket>();

  constructor(authorities: string, now: () => number) {
    this.#authorities = certificatesOf(authorities);
    this.#now = now;
  }

  /** Must be called when the handshake is over. */
  connected(socket: Socket): void {
    this.#connected.add(socket);
  }

  /** Replaces the authorities: certificates that the former ones verified become invalid on every connection. */
  replaceAuthorities(authorities: string): void {
    this.#authorities = certificatesOf(authorities);
    this.#connected = new WeakSet();
  }

  /** Returns undefined if there is no certificate, or an invalid or expired one. */
  of(socket: Socket): Certificate | undefined {
    if (!this.#connected.has(socket) || !(socket instanceof TLSSocket)) return undefined;
    let shown = this.#shown.get(socket);
    if (shown === undefined) {
      shown = this.#read(socket);
      this.#shown.set(socket, shown);
    }
    return shown.until > this.#now() ? shown.certificate : undefined;
  }

  #read(socket: TLSSocket): Shown {
    const leaf = socket.authorized ? socket.getPeerX509Certificate() : undefined;
    const name = leaf?.toLegacyObject().subject.CN as string | string[] | undefined;
    // With two names it would be ambiguous.
    if (leaf === undefined || typeof name !== "string" || name === "") return { certificate: undefined, until: Number.POSITIVE_INFINITY };
    const known = this.#authorities.filter((one) => one.ca && Date.parse(one.validTo) > this.#now());
    const issuers = issuersOf(leaf, known).flatMap(({ fingerprint256 }) => {
      const hash = fingerprint256.toLowerCase();
      return [hash.replaceAll(":", ""), hash];
    });
    // Node does not show the authorities that a client sends along, so a certificate with only those has no issuer that we know.
    return { certificate: issuers.length === 0 ? undefined : { name, issuers: issuers.join(",") }, until: Date.parse(leaf.validTo) };
  }
}

/** Reads the certificates of a PEM text. */
export function certificatesOf(pem: string): X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((text) => new X509Certificate(text));
}

/** Finds the authorities whose keys have signed it, directly or through others. It checks the signature, because anybody can choose a name. */
function issuersOf(leaf: X509Certificate, known: readonly X509Certificate[]): X509Certificate[] {
  const found: X509Certificate[] = [];
  const seen = new Set<string>();
  const open = [leaf];
  for (let one = open.shift(); one !== undefined && found.length < maxIssuers; one = open.shift()) {
    for (const issuer of known) {
      if (seen.has(issuer.fingerprint256) || !one.checkIssued(issuer) || !one.verify(issuer.publicKey)) continue;
      seen.add(issuer.fingerprint256);
      found.push(issuer);
      open.push(issuer);
    }
  }
  return found;
}
