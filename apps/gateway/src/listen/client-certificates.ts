import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Certificate } from "../authentication/certificate.ts";

/** Of issuers there are two or three. */
const mostIssuers = 16;

interface Shown {
  readonly certificate: Certificate | undefined;
  /** Epoch ms at which it expires. */
  readonly until: number;
}

/**
 * Which certificate a client of our own TLS port has shown. OpenSSL has verified it up to one of the authorities; here is found out whose it is
 * and who has issued it, once for each connection: TLS sessions are not resumed, so it is the same as long as that lasts.
 */
export class ClientCertificates {
  readonly #now: () => number;
  readonly #shown = new WeakMap<Socket, Shown>();
  #authorities: readonly X509Certificate[];
  /** Connections whose handshake was with the authorities of now. */
  #connected = new WeakSet<Socket>();

  constructor(authorities: string, now: () => number) {
    this.#authorities = certificatesOf(authorities);
    this.#now = now;
  }

  /** To be called when the handshake is over. */
  connected(socket: Socket): void {
    this.#connected.add(socket);
  }

  /** What was verified by the former authorities counts no more, on no connection. */
  replaceAuthorities(authorities: string): void {
    this.#authorities = certificatesOf(authorities);
    this.#connected = new WeakSet();
  }

  /** Undefined: none, or one that is not valid, or no longer. */
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
    // of two names nobody knows which one counts
    if (leaf === undefined || typeof name !== "string" || name === "") return { certificate: undefined, until: Number.POSITIVE_INFINITY };
    const known = this.#authorities.filter((one) => one.ca && Date.parse(one.validTo) > this.#now());
    const issuers = issuersOf(leaf, known).flatMap(({ fingerprint256 }) => {
      const hash = fingerprint256.toLowerCase();
      return [hash.replaceAll(":", ""), hash];
    });
    // node does not show the authorities that a client sends along: who has one of those alone has none that we know
    return { certificate: issuers.length === 0 ? undefined : { name, issuers: issuers.join(",") }, until: Date.parse(leaf.validTo) };
  }
}

/** Certificates of a PEM text. */
export function certificatesOf(pem: string): X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((text) => new X509Certificate(text));
}

/** Whose key has signed it, directly or over others. By the signature: a name alone anybody could have chosen. */
function issuersOf(leaf: X509Certificate, known: readonly X509Certificate[]): X509Certificate[] {
  const found: X509Certificate[] = [];
  const seen = new Set<string>();
  const open = [leaf];
  for (let one = open.shift(); one !== undefined && found.length < mostIssuers; one = open.shift()) {
    for (const issuer of known) {
      if (seen.has(issuer.fingerprint256) || !one.checkIssued(issuer) || !one.verify(issuer.publicKey)) continue;
      seen.add(issuer.fingerprint256);
      found.push(issuer);
      open.push(issuer);
    }
  }
  return found;
}
