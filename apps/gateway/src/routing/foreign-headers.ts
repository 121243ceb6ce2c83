import type { CertificateHeaders } from "../authentication/certificate.ts";

/** Of this connection alone (RFC 9110 §7.6.1). Passed on, a `Trailer` makes the request to the service one that cannot be sent. */
const ofConnection = "connection|keep-alive|proxy-connection|te|trailer|upgrade|expect|proxy-authorization";

/**
 * Tells the headers that end here: our own names, what proxies say of the client, certificates, which are credentials, and what is about
 * this connection. What of it is believed comes to the services in the signed identity.
 */
export function createHeaderFilter(certificates: readonly CertificateHeaders[]): (name: string) => boolean {
  const names = certificates.flatMap(({ name, issuer }) => {
    const numbered = issuer.endsWith("%d") ? `${issuer.slice(0, -2)}\\d+` : `${issuer}(?:-\\d+)?`;
    return [name, numbered];
  });
  const foreign = new RegExp(`^(?:forwarded|x-forwarded-.*|x-harrier-.*|${ofConnection}|${names.join("|")})$`);
  return (name) => foreign.test(name);
}

/** The service must know where the body ends and for whom it is, whatever the client calls a matter of the connection. */
const kept: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "content-type", "host"]);

/** Names that a Connection header declares to be of this connection alone. */
export function namedByConnection(connection: string | undefined): string[] {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return [];
  const names = connection.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => !kept.has(name));
}
