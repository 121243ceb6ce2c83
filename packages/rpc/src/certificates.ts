import type { ServiceName } from "./services.ts";

/** The members of a peer's certificate that hold its names, in the form of node and gRPC. */
export interface NamedCertificate {
  readonly subject?: { readonly CN?: string | string[] };
  readonly subjectaltname?: string | undefined;
}

/** Whether a certificate of our authority belongs to this service: `management` or `management.<anything>`, as common name or DNS name. */
export function isCertificateOf(certificate: NamedCertificate | undefined, service: ServiceName): boolean {
  return namesOf(certificate).some((name) => name === service || name.startsWith(`${service}.`));
}

/** Answers all names that a certificate holds. */
export function namesOf(certificate: NamedCertificate | undefined): string[] {
  const common = certificate?.subject?.CN ?? [];
  const alternative = (certificate?.subjectaltname ?? "").split(", ").filter((name) => name.startsWith("DNS:"));
  return [common, alternative.map((name) => name.slice("DNS:".length))].flat();
}
