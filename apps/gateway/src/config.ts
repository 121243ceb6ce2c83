import { ConfigError, type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";
import { parseIssuers } from "./authentication/access-token/issuers.ts";
import { parseCertificateHeaders } from "./authentication/certificate.ts";
import { AddressList } from "./client/address-list.ts";
import { certificatesOf } from "./listen/client-certificates.ts";
import type { TlsFiles } from "./listen/listen.ts";

/** Reads a text by `read`, whose error message becomes the error at the start. */
const readBy = (read: (text: string) => unknown) =>
  z.string().superRefine((text, ctx) => {
    try {
      read(text);
    } catch (error) {
      ctx.addIssue({ code: "custom", message: (error as Error).message });
    }
  });

const addresses = readBy((text) => new AddressList(text));

/** Requests a second or failures a minute; 0 means no limit. */
const rate = z.coerce.number().int().min(0).max(4_000_000_000);
/** Bytes a second; 0 means no limit. */
const byteRate = z.coerce.number().int().min(0).max(1_000_000_000);

/** The settings of the gateway; this file is the only reader of its environment. Each may also come as `…_FILE`. */
export const gatewayConfig = z.object({
  /** The port for requests from outside. */
  HARRIER_HTTP_PORT: port.default(8080),
  /** The port for TLS that ends here, with the gateway's certificate and its key; absent means plain HTTP only. */
  HARRIER_HTTPS_PORT: port.optional(),
  /** PEM texts, usually as `…_FILE`; then changed files take effect within seconds. */
  HARRIER_HTTPS_CERT: z.string().optional(),
  HARRIER_HTTPS_KEY: z.string().optional(),
  /** The authorities of devices' certificates; if absent, no device signs in by one that it shows here. */
  HARRIER_HTTPS_CLIENT_CA: z.string().optional(),
  /** The share of requests that are traced where HARRIER_OTLP_URL is set, 0 to 1; of the reads of devices it is a hundredth of that. */
  HARRIER_OTLP_RATIO: z.coerce.number().min(0).max(1).default(1),
  /** The internal port of the metrics; absent means none. */
  HARRIER_METRICS_PORT: port.optional(),
  /** The replicas of each service, comma separated: `http://host:port`. */
  HARRIER_CONTROLLER_HTTP: z.string().min(1),
  HARRIER_MANAGEMENT_HTTP: z.string().min(1),
  HARRIER_ARTIFACT_STORE_HTTP: z.string().min(1),
  HARRIER_ROLLOUT_ENGINE_HTTP: z.string().min(1),
  /** The replicas as `host:port`, comma separated. */
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_MANAGEMENT_GRPC: z.string().min(1),
  /** It is not called yet; every service gets the same settings. */
  HARRIER_ARTIFACT_STORE_GRPC: z.string().optional(),
  HARRIER_ROLLOUT_ENGINE_GRPC: z.string().optional(),
  /** The keys of the pairs of caller and audience to which the gateway belongs: `gateway/controller=k1:<base64>;…`. */
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** The address that links show; if absent, the one that the client called. */
  HARRIER_PUBLIC_URL: z.url().optional(),
  /**
   * The folder of the built console, which is read once at the start; `none` means that none is served. If absent, it is the folder `console` beside
   * `dist`, as in the image, if there is one.
   */
  HARRIER_CONSOLE: z.string().min(1).optional(),
  /** The proxies in front of the gateway, `10.0.0.0/8,192.0.2.7`: only their headers about a request count. */
  HARRIER_TRUSTED_PROXIES: addresses.default("none"),
  /**
   * The headers in which these proxies forward client certificates: `common name:issuer hash` for each of their formats. The default is none, because
   * a proxy that cleans X-Forwarded-* lets a client write these.
   */
  HARRIER_CERTIFICATE_HEADERS: readBy(parseCertificateHeaders).default("none"),
  /**
   * The issuers whose access tokens sign users in, a JSON list: `[{"issuer": "https://id.example.com", "audience": "harrier", "tenant": "DEFAULT"}]`.
   */
  HARRIER_OIDC_ISSUERS: readBy(parseIssuers).default("[]"),
  /** The clients that are never limited; `none` means that every client is. */
  HARRIER_RATE_EXEMPT: addresses.default("127.0.0.0/8,::1"),
  /** Requests a second to the device interface: of one client address, */
  HARRIER_RATE_ADDRESS_READS: rate.default(200),
  HARRIER_RATE_ADDRESS_WRITES: rate.default(50),
  HARRIER_RATE_ADDRESS_DOWNLOADS: rate.default(10_000),
  /** of one device (more than of an address: at a new address it is not limited by what it did at its old one), */
  HARRIER_RATE_DEVICE_READS: rate.default(400),
  HARRIER_RATE_DEVICE_WRITES: rate.default(100),
  HARRIER_RATE_DEVICE_DOWNLOADS: rate.default(10_000),
  /** of all devices of a tenant. */
  HARRIER_RATE_TENANT_READS: rate.default(10_000),
  HARRIER_RATE_TENANT_WRITES: rate.default(5_000),
  HARRIER_RATE_TENANT_DOWNLOADS: rate.default(20_000),
  /** Requests a second to the management interface: of one user or OAuth client, */
  HARRIER_RATE_USER_READS: rate.default(200),
  HARRIER_RATE_USER_WRITES: rate.default(100),
  /** of all users and clients of a tenant. */
  HARRIER_RATE_USERS_READS: rate.default(500),
  HARRIER_RATE_USERS_WRITES: rate.default(250),
  /**
   * The maximum of concurrent requests of a tenant to the management interface at a gateway, and of as many transfers; 0 means no limit. There are no
   * exemptions.
   */
  HARRIER_IN_FLIGHT_TENANT: rate.default(64),
  /**
   * The maximum of concurrent downloads of one device at a gateway, of one client address for anonymous downloads; 0 means no limit. There are no
   * exemptions.
   */
  HARRIER_IN_FLIGHT_DEVICE: rate.default(32),
  /** Bytes of reports a second: of one device, in windows of four seconds, so that a report of 1 MiB passes; */
  HARRIER_RATE_DEVICE_BYTES: byteRate.default(256 * 1024),
  /** of all devices of a tenant. */
  HARRIER_RATE_TENANT_BYTES: byteRate.default(32 * 1024 * 1024),
  /** Connections at once: on all ports, */
  HARRIER_CONNECTIONS_TOTAL: rate.default(20_000),
  /** of one client address that is neither a trusted proxy nor one of HARRIER_RATE_EXEMPT. */
  HARRIER_CONNECTIONS_ADDRESS: rate.default(1_000),
  /** Milliseconds after the signal to stop in which the gateway still accepts requests, so that a balancer notices; */
  HARRIER_DRAIN_MS: z.coerce.number().int().min(0).max(600_000).default(5_000),
  /** milliseconds that requests under way have after that; transfers need them. */
  HARRIER_DRAIN_TRANSFERS_MS: z.coerce.number().int().min(0).max(3_600_000).default(60_000),
  /** Failed sign-ins a minute: of one user or device from one address, */
  HARRIER_SIGN_IN_FAILURES_ACCOUNT: rate.default(10),
  /** of one user from all addresses, */
  HARRIER_SIGN_IN_FAILURES_USER: rate.default(100),
  /** of all users from one address, */
  HARRIER_SIGN_IN_FAILURES_ADDRESS: rate.default(100),
  /** of all devices from one address. */
  HARRIER_SIGN_IN_FAILURES_ADDRESS_DEVICES: rate.default(600),
  /** Seconds after which a credential is verified again, whatever the change stream said; for devices rounded up to minutes. */
  HARRIER_CREDENTIAL_TTL: z.coerce.number().int().min(1).max(86_400).default(300),
});

export type GatewayConfig = ConfigOf<(typeof gatewayConfig)["shape"]>;

export const readConfig = (): GatewayConfig => loadConfig(gatewayConfig, process.env);

/** Reads the settings again, for what changes while the gateway runs; warnings about them were logged at the start. */
export const rereadConfig = (): GatewayConfig => loadConfig(gatewayConfig, process.env, () => undefined);

/** Returns what the HTTPS port needs; undefined if there is none. */
export function tlsFilesOf(config: GatewayConfig): TlsFiles | undefined {
  const { HARRIER_HTTPS_CERT: cert, HARRIER_HTTPS_KEY: key, HARRIER_HTTPS_CLIENT_CA: clientCa } = config;
  if (config.HARRIER_HTTPS_PORT === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new ConfigError("HARRIER_HTTPS_PORT needs HARRIER_HTTPS_CERT and HARRIER_HTTPS_KEY");
  if (clientCa !== undefined && certificatesOf(clientCa).length === 0)
    throw new ConfigError("HARRIER_HTTPS_CLIENT_CA holds no certificate in PEM");
  return { cert, key, clientCa };
}
