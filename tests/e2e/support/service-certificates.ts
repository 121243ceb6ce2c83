import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RpcTls, type ServiceName, serviceNames } from "@harrier/rpc";
import type { StackOptions } from "@harrier/stack";
import { Authorities } from "@harrier/testkit";

export interface ServiceCertificates {
  /** What a service shows and trusts. */
  of(service: ServiceName): RpcTls;
  /** A certificate in the name of a service that another authority has made, whose holder trusts ours. */
  strangersOf(service: ServiceName): RpcTls;
  /** The authority of all services. */
  readonly ca: string;
  /** The authority that no service trusts. */
  readonly strangeCa: string;
  /** For `startTestStack`: every service with its own certificate. */
  readonly options: Pick<StackOptions, "envOf" | "tls">;
  close(): void;
}

/** Certificates of an authority for each service, and the same names once more of one that nobody trusts. */
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
    strangersOf: (service) => find(wrong, service),
    ca: ours.cert,
    strangeCa: strange.cert,
    // readiness is told to every service's certificate
    options: { envOf, tls: find(right, "management") },
    close() {
      authorities.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
