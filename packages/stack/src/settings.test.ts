import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";

const read = (env: Record<string, string>) => readSettings(env, "/srv/harrier");

function messageOf(env: Record<string, string>): string {
  try {
    read(env);
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).not.toContain("\n");
    return (error as Error).message;
  }
  throw new Error("no error");
}

test("every setting has a usable default", () => {
  expect(read({ PATH: "/bin", HOME: "/root", HARRIE: "x" })).toEqual({
    httpPort: 8080,
    dataDir: "/srv/harrier/.harrier",
    database: { kind: "embedded" },
  });
});

test("an empty value counts as not set, because compose files and CI pass it", () => {
  expect(read({ HARRIER_HTTP_PORT: "", HARRIER_DATABASE_URL: "", HARRIER_S3_BUCKET: "" })).toMatchObject({
    httpPort: 8080,
    database: { kind: "embedded" },
  });
});

test("all settings are read", () => {
  const settings = read({
    HARRIER_HTTP_PORT: "9090",
    HARRIER_DATA_DIR: "../data",
    HARRIER_ADMIN_PASSWORD: "s3cret",
    HARRIER_DATABASE_URL: "postgres://u:p@db:5432/harrier",
    HARRIER_KAFKA_BROKERS: "a:9092, [::1]:9093",
    HARRIER_LOG_LEVEL: "debug",
    HARRIER_S3_ENDPOINT: "http://127.0.0.1:9000",
    HARRIER_S3_ACCESS_KEY: "key",
    HARRIER_S3_SECRET_KEY: "secret",
    HARRIER_S3_BUCKET: "artifacts",
    HARRIER_PUBLIC_URL: "https://updates.example.com",
    HARRIER_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
    HARRIER_CERTIFICATE_HEADERS: "X-Cn:X-Hash-%d, X-Name:X-Issuers",
    HARRIER_RATE_EXEMPT: "none",
    HARRIER_RATE_ADDRESS_READS: "0",
    HARRIER_SIGN_IN_FAILURES_ADDRESS_DEVICES: "5000",
    HARRIER_RATE_TENANT_DOWNLOADS: "50000",
    HARRIER_HTTPS_PORT: "8443",
    HARRIER_HTTPS_CERT_FILE: "/srv/tls/cert.pem",
    HARRIER_ARTIFACT_LINKS: "download=hawkbit",
    HARRIER_DOWNLOAD_URL: "https://files.example.com",
    HARRIER_UNKNOWN_MEMBERS: "refuse",
    HARRIER_SESSION_TTL: "28800",
    HARRIER_SESSION_IDLE: "900",
  });
  expect(settings).toEqual({
    httpPort: 9090,
    dataDir: "/srv/data",
    adminPassword: "s3cret",
    database: { kind: "one", url: "postgres://u:p@db:5432/harrier" },
    kafkaBrokers: "a:9092,[::1]:9093",
    logLevel: "debug",
    unknownMembers: "refuse",
    s3: { endpoint: "http://127.0.0.1:9000", accessKey: "key", secretKey: "secret", bucket: "artifacts" },
    gateway: {
      HARRIER_PUBLIC_URL: "https://updates.example.com",
      HARRIER_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
      HARRIER_CERTIFICATE_HEADERS: "X-Cn:X-Hash-%d, X-Name:X-Issuers",
      HARRIER_RATE_EXEMPT: "none",
      HARRIER_RATE_ADDRESS_READS: "0",
      HARRIER_SIGN_IN_FAILURES_ADDRESS_DEVICES: "5000",
      HARRIER_RATE_TENANT_DOWNLOADS: "50000",
      HARRIER_HTTPS_PORT: "8443",
      HARRIER_HTTPS_CERT_FILE: "/srv/tls/cert.pem",
    },
    controller: { HARRIER_ARTIFACT_LINKS: "download=hawkbit", HARRIER_DOWNLOAD_URL: "https://files.example.com" },
    management: { HARRIER_SESSION_TTL: "28800", HARRIER_SESSION_IDLE: "900" },
  });
});

describe("an unknown setting", () => {
  test.each([
    ["HARRIER_HTTP_PROT", "unknown setting HARRIER_HTTP_PROT (did you mean HARRIER_HTTP_PORT?)"],
    ["HARRIER_KAFKA_BROKER", "unknown setting HARRIER_KAFKA_BROKER (did you mean HARRIER_KAFKA_BROKERS?)"],
    ["HARRIER_ADMIN_PASSWORT_FILE", "unknown setting HARRIER_ADMIN_PASSWORT_FILE (did you mean HARRIER_ADMIN_PASSWORD_FILE?)"],
    ["HARRIER_X", "unknown setting HARRIER_X"],
    ["HARRIER_IDENTITY_KEYS", "unknown setting HARRIER_IDENTITY_KEYS"],
  ])("%s", (name, message) => {
    expect(messageOf({ [name]: "1" })).toBe(message);
  });
});

describe("a bad value", () => {
  test("for unknown members", () => {
    expect(messageOf({ HARRIER_UNKNOWN_MEMBERS: "error" })).toBe("HARRIER_UNKNOWN_MEMBERS must be one of warn, refuse, ignore");
  });

  test.each(["0", "65536", "80a", "-1", "8080.5", "1e3"])("for port %s", (port) => {
    expect(messageOf({ HARRIER_HTTP_PORT: port })).toBe(`HARRIER_HTTP_PORT must be a port from 1 to 65535, not "${port}"`);
  });

  test.each(["localhost", "mysql://u:hidden@h/db", "postgres://u:hidden@h", "postgres:///db"])(
    "for database URL %s, without showing its password",
    (url) => {
      const message = messageOf({ HARRIER_DATABASE_URL: url });
      expect(message).toContain("HARRIER_DATABASE_URL must be a URL like postgres://");
      expect(message).not.toContain("hidden");
    },
  );

  test.each(["kafka", "kafka:", "a:9092,,b:9092", "http://a:9092", "a:9092/x"])("for brokers %s", (brokers) => {
    expect(messageOf({ HARRIER_KAFKA_BROKERS: brokers })).toContain("HARRIER_KAFKA_BROKERS must be host:port");
  });

  test.each(["10.0.0.0/33", "::1/129", "proxy", "10.0.0.1,", "10.0.0.0/8/8", "10.0.0.0/", "10.0.0"])("for addresses %s", (list) => {
    expect(messageOf({ HARRIER_TRUSTED_PROXIES: list })).toContain("HARRIER_TRUSTED_PROXIES must be addresses and networks like");
    expect(messageOf({ HARRIER_RATE_EXEMPT: list })).toContain("HARRIER_RATE_EXEMPT must be");
  });

  test.each(["-1", "many", "1.5", "1e3"])("for rate %s", (rate) => {
    expect(messageOf({ HARRIER_SIGN_IN_FAILURES_USER: rate })).toContain("HARRIER_SIGN_IN_FAILURES_USER must be failures a minute");
    expect(messageOf({ HARRIER_RATE_DEVICE_READS: rate })).toBe(`HARRIER_RATE_DEVICE_READS must be requests a second, not "${rate}"`);
    expect(messageOf({ HARRIER_RATE_USERS_WRITES: rate })).toContain("HARRIER_RATE_USERS_WRITES must be requests a second");
    expect(messageOf({ HARRIER_RATE_TENANT_BYTES: rate })).toContain("HARRIER_RATE_TENANT_BYTES must be bytes a second");
    expect(messageOf({ HARRIER_CONNECTIONS_ADDRESS: rate })).toContain("HARRIER_CONNECTIONS_ADDRESS must be a number of them at once");
    expect(messageOf({ HARRIER_DRAIN_MS: rate })).toContain("HARRIER_DRAIN_MS must be milliseconds");
  });

  test("for public address and header names", () => {
    expect(messageOf({ HARRIER_PUBLIC_URL: "updates.example.com" })).toContain("HARRIER_PUBLIC_URL must be a URL like");
    expect(messageOf({ HARRIER_CERTIFICATE_HEADERS: "X-Cn" })).toContain("HARRIER_CERTIFICATE_HEADERS must be like");
  });

  test.each(["https://id.example.com", '{"issuer":"https://id.example.com"}'])("for issuers %s", (issuers) => {
    expect(messageOf({ HARRIER_OIDC_ISSUERS: issuers })).toContain("HARRIER_OIDC_ISSUERS must be a JSON list like");
  });

  test.each(["sec\tret", "secret\u0000", "secret\u007f"])("for admin password %j", (password) => {
    expect(messageOf({ HARRIER_ADMIN_PASSWORD: password })).toContain("HARRIER_ADMIN_PASSWORD must hold no control characters");
  });

  test.each(["0", "59", "2592001", "12h", "-60", "60.5", "1e3"])("for the end of sessions %s", (seconds) => {
    for (const name of ["HARRIER_SESSION_TTL", "HARRIER_SESSION_IDLE"])
      expect(messageOf({ [name]: seconds })).toBe(`${name} must be a number of seconds from 60 to 2592000, not "${seconds}"`);
  });

  test("for log level", () => {
    expect(messageOf({ HARRIER_LOG_LEVEL: "loud" })).toContain("HARRIER_LOG_LEVEL must be one of trace, debug");
  });

  test("for S3 endpoint", () => {
    expect(read({ HARRIER_STORAGE_RESERVE: "1000000" }).storageReserve).toBe(1_000_000);
    expect(messageOf({ HARRIER_STORAGE_RESERVE: "1GB" })).toBe('HARRIER_STORAGE_RESERVE must be a number of bytes, not "1GB"');
    expect(read({ HARRIER_EVENT_DAYS: "30", HARRIER_ARTIFACT_KEEP_DAYS: "0" })).toMatchObject({ eventDays: 30, artifactKeepDays: 0 });
    expect(messageOf({ HARRIER_EVENT_DAYS: "1" })).toBe('HARRIER_EVENT_DAYS must be a number of days from 2 to 30, not "1"');
    expect(messageOf({ HARRIER_ARTIFACT_KEEP_DAYS: "a week" })).toBe(
      'HARRIER_ARTIFACT_KEEP_DAYS must be a number of days from 0 to 3650, not "a week"',
    );
    const s3 = { HARRIER_S3_ENDPOINT: "minio:9000", HARRIER_S3_ACCESS_KEY: "a", HARRIER_S3_SECRET_KEY: "b", HARRIER_S3_BUCKET: "c" };
    const reached = { ...s3, HARRIER_S3_ENDPOINT: "http://minio:9000", HARRIER_S3_PUBLIC_ENDPOINT: "files.example.com" };
    expect(messageOf(reached)).toBe('HARRIER_S3_PUBLIC_ENDPOINT must be a URL like http://127.0.0.1:9000, not "files.example.com"');
    expect(messageOf(s3)).toBe('HARRIER_S3_ENDPOINT must be a URL like http://127.0.0.1:9000, not "minio:9000"');
  });
});

test("for settings that are only valid together", () => {
  expect(messageOf({ HARRIER_S3_BUCKET: "b" })).toContain("HARRIER_S3_ENDPOINT is missing");
  expect(messageOf({ HARRIER_S3_PUBLIC_ENDPOINT: "https://files.example.com" })).toContain("HARRIER_S3_ENDPOINT is not");
  expect(messageOf({ HARRIER_CONTROLLER_DATABASE_URL: "postgres://a:b@h/db" })).toContain("HARRIER_MANAGEMENT_DATABASE_URL is missing");
  expect(messageOf({ HARRIER_DATABASE_URL: "postgres://a:b@h/db", HARRIER_CONTROLLER_DATABASE_URL: "postgres://a:b@h/db" })).toContain(
    "use one URL, or one per service",
  );
});

test("for one URL per service", () => {
  const names = ["CONTROLLER", "MANAGEMENT", "ARTIFACT_STORE", "ROLLOUT_ENGINE"];
  const { database } = read(
    Object.fromEntries(names.map((name) => [`HARRIER_${name}_DATABASE_URL`, `postgres://${name.toLowerCase()}:p@h/db`])),
  );
  expect(database).toMatchObject({ kind: "per-service", urls: { "artifact-store": "postgres://artifact_store:p@h/db" } });
});

describe("a secret in a file", () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "harrier-settings-"));
    writeFileSync(join(dir, "password"), "from file\n");
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test("is read without its line end", () => {
    expect(read({ HARRIER_ADMIN_PASSWORD_FILE: join(dir, "password") }).adminPassword).toBe("from file");
    writeFileSync(join(dir, "issuers"), "[]\n");
    expect(read({ HARRIER_OIDC_ISSUERS_FILE: join(dir, "issuers") }).gateway).toEqual({ HARRIER_OIDC_ISSUERS: "[]" });
  });
  test("that cannot be read, or that is given twice, is an error", () => {
    expect(messageOf({ HARRIER_ADMIN_PASSWORD_FILE: join(dir, "none") })).toMatch(
      /^HARRIER_ADMIN_PASSWORD_FILE: cannot read .*none \(ENOENT\)$/,
    );
    expect(messageOf({ HARRIER_ADMIN_PASSWORD: "a", HARRIER_ADMIN_PASSWORD_FILE: join(dir, "password") })).toContain("both given");
  });
  test.each(["HARRIER_ADMIN_PASSWORD", "HARRIER_DATABASE_URL", "HARRIER_OIDC_ISSUERS"])("of %s must not be empty", (name) => {
    writeFileSync(join(dir, "empty"), "\n");
    expect(messageOf({ [`${name}_FILE`]: join(dir, "empty") })).toBe(`${name}_FILE: ${join(dir, "empty")} is empty`);
  });
});
