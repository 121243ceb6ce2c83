import type { CertificateHeaders } from "../authentication/certificate.ts";

/** These headers are for this connection only (RFC 9110 §7.6.1). A forwarded `Trailer` makes a request to the service that cannot be sent. */
const ofConnection = "connection|keep-alive|proxy-connection|te|trailer|upgrade|expect|proxy-authorization";

/**
 * Returns true for headers that are not forwarded: the gateway's own names, those of proxies about the client, certificates and cookies, which are credentials,
 * and those of this connection. The services get what is trusted of them in the signed identity.
 */
export function createHeaderFilter(certificates: readonly CertificateHeaders[]): (name: string) => boolean {
  const names = certificates.flatMap(({ name, issuer }) => {
    const numbered = issuer.endsWith("%d") ? `${issuer.slice(0, -2)}\\d+` : `${issuer}(?:-\\d+)?`;
    return [name, numbered];
  });
  const foreign = new RegExp(`^(?:cookie|forwarded|x-forwarded-.*|x-harrier-.*|${ofConnection}|${names.join("|")})$`);
  return (name) => foreign.test(name);
}

/** The service must know where the body ends and for whom it is, whatever the client's Connection header names. */
const kept: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "content-type", "host"]);

/** Reads the names that a Connection header declares to be for this connection only. */
export function namedByConnection(connection: string | undefined): string[] {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return [];
  const names = connection.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => !kept.has(name));
}
