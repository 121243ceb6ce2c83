import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RpcTls, type ServiceName, serviceNames } from "@harrier/rpc";
import type { StackOptions } from "@harrier/stack";
import { Authorities } from "@harrier/testkit";

export interface ServiceCertificates {
  /** Returns the certificate that a service shows and the authority that it trusts. */
  of(service: ServiceName): RpcTls;
  /** Returns a certificate in the name of a service that another authority has made, and whose holder trusts our authority. */
  foreignOf(service: ServiceName): RpcTls;
  /** The authority of all services. */
  readonly ca: string;
  /** The authority that no service trusts. */
  readonly strangeCa: string;
  /** The options for `startTestStack`: every service gets its own certificate. */
  readonly options: Pick<StackOptions, "envOf" | "tls">;
  close(): void;
}

/** Makes certificates of an authority for each service, and others with the same names of an authority that no service trusts. */
export function makeServiceCertificates(): ServiceCertificates {
  const dir = mkdtempSync(join(tmpdir(), "harrier-service-tls-"));
  const authorities = new Authorities();
  const [ours, strange] = [authorities.root("harrier-services"), authorities.root("somebody-else")];
  const made = (authority: typeof ours) =>
    new Map(serviceNames.map((service) => [service, { ...authority.issue(service, "service"), ca: ours.cert }]));
  const [right, wrong] = [made(ours), made(strange)];
  const find = (all: Map<ServiceName, RpcTls>, service: ServiceName): RpcTls => all.get(service) as RpcTls;
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const envOf = Object.fromEntries(
    serviceNames.map((service) => {
      const { cert, key, ca } = find(right, service);
      return [
        service,
        {
          HARRIER_TLS_CERT_FILE: file(`${service}.pem`, cert),
          HARRIER_TLS_KEY_FILE: file(`${service}.key`, key),
          HARRIER_TLS_CA_FILE: file(`${service}-ca.pem`, ca),
        },
      ];
    }),
  );
  return {
    of: (service) => find(right, service),
    foreignOf: (service) => find(wrong, service),
    ca: ours.cert,
    strangeCa: strange.cert,
    // Every certificate of a service may ask for readiness.
    options: { envOf, tls: find(right, "management") },
    close() {
      authorities.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
