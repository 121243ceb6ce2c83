import { loadConfig } from "@harrier/service";
import { expect, test } from "vitest";
import { type GatewayConfig, gatewayConfig, tlsFilesOf } from "./config.ts";

const needed = Object.fromEntries(
  [
    "CONTROLLER_HTTP",
    "MANAGEMENT_HTTP",
    "ARTIFACT_STORE_HTTP",
    "ROLLOUT_ENGINE_HTTP",
    "CONTROLLER_GRPC",
    "MANAGEMENT_GRPC",
    "IDENTITY_KEYS",
  ].map((name) => [`HARRIER_${name}`, "x"]),
);
const read = (more: Record<string, string> = {}) => loadConfig(gatewayConfig, { ...needed, ...more });

test("by default no proxy is trusted and only loopback is exempt", () => {
  expect(read()).toMatchObject({ HARRIER_TRUSTED_PROXIES: "none", HARRIER_RATE_EXEMPT: "127.0.0.0/8,::1" });
});

test.each([
  ["ADDRESS", 200, 50, 10_000],
  ["DEVICE", 400, 100, 10_000],
  ["TENANT", 10_000, 5_000, 20_000],
])("device 13.95 default requests a second of one %s: %i reads, %i writes, %i downloads", (whose, reads, writes, downloads) => {
  const names = ["READS", "WRITES", "DOWNLOADS"].map((kind) => `HARRIER_RATE_${whose}_${kind}` as keyof GatewayConfig);
  expect(names.map((name) => read()[name])).toEqual([reads, writes, downloads]);
  expect(read({ [names[0] as string]: "0" })[names[0] as keyof GatewayConfig]).toBe(0);
});

test("default maxima for clients, and the default duration of a stop", () => {
  expect(read()).toMatchObject({
    HARRIER_RATE_USER_READS: 200,
    HARRIER_RATE_USER_WRITES: 100,
    HARRIER_RATE_USERS_READS: 500,
    HARRIER_RATE_USERS_WRITES: 250,
    HARRIER_IN_FLIGHT_TENANT: 64,
    HARRIER_IN_FLIGHT_DEVICE: 32,
    HARRIER_RATE_DEVICE_BYTES: 262_144,
    HARRIER_RATE_TENANT_BYTES: 33_554_432,
    HARRIER_CONNECTIONS_TOTAL: 20_000,
    HARRIER_CONNECTIONS_ADDRESS: 1_000,
    HARRIER_DRAIN_MS: 5_000,
    HARRIER_DRAIN_TRANSFERS_MS: 60_000,
  });
  expect(() => read({ HARRIER_DRAIN_MS: "-1" })).toThrow("HARRIER_DRAIN_MS");
});

test.each([
  ["HARRIER_TRUSTED_PROXIES", "10.0.0.0/8,proxy", 'HARRIER_TRUSTED_PROXIES: "proxy" is no address and no network like 10.0.0.0/8'],
  ["HARRIER_RATE_EXEMPT", "10.0.0.0/99", 'HARRIER_RATE_EXEMPT: "10.0.0.0/99" is no address and no network like 10.0.0.0/8'],
  [
    "HARRIER_OIDC_ISSUERS",
    '[{"issuer":"https://id.example.com","audience":"harrier","tenent":"A"}]',
    "HARRIER_OIDC_ISSUERS: issuer https://id.example.com: unknown member tenent",
  ],
  ["HARRIER_CERTIFICATE_HEADERS", "X-Cn", 'HARRIER_CERTIFICATE_HEADERS: "X-Cn" is not of the form X-Common-Name:X-Issuer-Hash-%d'],
])("%s=%s is an error in one line", (name, value, message) => {
  expect(() => read({ [name]: value })).toThrow(message);
});

test("the HTTPS port needs its certificate and key, and readable authorities", () => {
  const tls = { HARRIER_HTTPS_CERT: "c", HARRIER_HTTPS_KEY: "k" };
  expect(tlsFilesOf(read(tls))).toBeUndefined();
  expect(tlsFilesOf(read({ ...tls, HARRIER_HTTPS_PORT: "8443" }))).toEqual({ cert: "c", key: "k", clientCa: undefined });
  expect(() => tlsFilesOf(read({ HARRIER_HTTPS_PORT: "8443", HARRIER_HTTPS_KEY: "k" }))).toThrow("HARRIER_HTTPS_PORT needs");
  expect(() => tlsFilesOf(read({ ...tls, HARRIER_HTTPS_PORT: "8443", HARRIER_HTTPS_CLIENT_CA: "x" }))).toThrow("no certificate in PEM");
});
