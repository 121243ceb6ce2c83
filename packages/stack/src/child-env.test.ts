import { expect, test } from "vitest";
import { childEnv, type Plan, type Replica } from "./child-env.ts";
import type { Secrets } from "./data-dir.ts";
import { keyPairs, type ServiceName, serviceNames } from "./services.ts";

const replicas: Replica[] = [
  ...serviceNames
    .filter((service) => service !== "gateway")
    .flatMap((service, n) => [0, 1].map((index) => ({ service, index, httpPort: 100 + 10 * n + index, grpcPort: 200 + 10 * n + index }))),
  { service: "gateway", index: 0, httpPort: 80 },
  { service: "dmf", index: 0, httpPort: 150 },
];
const auditKey = (n: number) => Buffer.alloc(32, n).toString("base64");
const plan: Plan = {
  replicas,
  secrets: {
    databasePassword: "root-of-all",
    rolePasswords: { controller: "1", management: "2", "artifact-store": "3", "rollout-engine": "4" },
    identityKeys: Object.fromEntries(keyPairs.map((pair) => [pair, `KEY-${pair}`])) as Secrets["identityKeys"],
    secretKey: "SECRET",
    auditKeys: { management: auditKey(1), "rollout-engine": auditKey(2), "artifact-store": auditKey(3) },
  },
  adminPassword: "pw",
  databaseUrls: { controller: "db:c", management: "db:m", "artifact-store": "db:a", "rollout-engine": "db:r" },
  storageDir: "/data/artifacts",
  extra: {},
};
const machine = {
  PATH: "/bin",
  HOME: "/home/x",
  TZ: "UTC",
  NODE_OPTIONS: "--inspect",
  npm_config_cache: "x",
  AWS_SECRET_ACCESS_KEY: "theirs",
  HARRIER_DATA_DIR: "/d",
};
const envOf = (service: ServiceName, changes: Partial<Plan> = {}) =>
  childEnv({ ...plan, ...changes }, replicas.find((replica) => replica.service === service) as Replica, machine);

test("only PATH, HOME and TZ of the machine's environment are passed on", () => {
  for (const service of serviceNames) {
    expect(Object.keys(envOf(service)).filter((name) => !name.startsWith("HARRIER_"))).toEqual(["PATH", "HOME", "TZ"]);
    expect(envOf(service)).not.toHaveProperty("HARRIER_DATA_DIR");
  }
});

test("a service, or one replica of it, may have more", () => {
  const envOf = { controller: { HARRIER_A: "all", HARRIER_B: "all" }, "controller-1": { HARRIER_B: "one" } };
  const [first, second] = replicas.filter(({ service }) => service === "controller");
  const has = (replica?: Replica) => childEnv({ ...plan, envOf }, replica as Replica, machine);
  expect(has(first)).toMatchObject({ HARRIER_A: "all", HARRIER_B: "all" });
  expect(has(second)).toMatchObject({ HARRIER_A: "all", HARRIER_B: "one" });
  expect(has(replicas.find(({ service }) => service === "gateway"))).not.toHaveProperty("HARRIER_A");
});

test("a service gets its own secrets and no others", () => {
  expect(envOf("controller")).toEqual({
    PATH: "/bin",
    HOME: "/home/x",
    TZ: "UTC",
    HARRIER_HTTP_HOST: "127.0.0.1",
    HARRIER_HTTP_PORT: "110",
    HARRIER_GRPC_PORT: "210",
    HARRIER_DATABASE_URL: "db:c",
    HARRIER_IDENTITY_KEYS: ["management", "artifact-store", "rollout-engine", "gateway", "dmf"]
      .map((caller) => `${caller}/controller=k1:KEY-${caller}/controller`)
      .join(";"),
    HARRIER_SECRET_KEY: "SECRET",
    HARRIER_DRAIN_MS: "0",
    HARRIER_DRAIN_TRANSFERS_MS: "2500",
  });
  for (const service of serviceNames) {
    const pairs = String(envOf(service)["HARRIER_IDENTITY_KEYS"]).match(/(?<=^|;)[^=]+/g) ?? [];
    expect(pairs.toSorted()).toEqual(keyPairs.filter((pair) => pair.split("/").includes(service)).toSorted());
  }
  for (const service of serviceNames) expect(JSON.stringify(envOf(service))).not.toContain("root-of-all");
  for (const service of ["gateway", "artifact-store", "rollout-engine"] as const)
    expect(envOf(service)).not.toHaveProperty("HARRIER_SECRET_KEY");
});

test("the gateway knows every replica of every service, and no database", () => {
  const env = envOf("gateway");
  expect(env).toMatchObject({ HARRIER_DRAIN_MS: "0", HARRIER_DRAIN_TRANSFERS_MS: "2500" });
  expect(env["HARRIER_CONTROLLER_HTTP"]).toBe("http://127.0.0.1:110,http://127.0.0.1:111");
  expect(env["HARRIER_ROLLOUT_ENGINE_GRPC"]).toBe("127.0.0.1:230,127.0.0.1:231");
  expect(env).not.toHaveProperty("HARRIER_DATABASE_URL");
  expect(env).not.toHaveProperty("HARRIER_GRPC_PORT");
});

test("only the gateway gets settings of the gateway", () => {
  const gateway = { HARRIER_TRUSTED_PROXIES: "10.0.0.0/8" };
  expect(envOf("gateway", { gateway })).toMatchObject(gateway);
  expect(envOf("controller", { gateway })).not.toHaveProperty("HARRIER_TRUSTED_PROXIES");
});

test("services with TLS have https addresses, and the gateway's address stays", () => {
  const [plain, secure] = [envOf("gateway"), envOf("gateway", { secure: true })];
  expect(plain["HARRIER_CONTROLLER_HTTP"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+,http:/);
  expect(secure["HARRIER_CONTROLLER_HTTP"]).toBe(plain["HARRIER_CONTROLLER_HTTP"]?.replaceAll("http:", "https:"));
  expect(envOf("management", { secure: true })).toEqual(envOf("management"));
});

test("artifacts are stored in S3 if configured, else in the data directory", () => {
  expect(envOf("artifact-store")["HARRIER_STORAGE_DIR"]).toBe("/data/artifacts");
  const s3 = { endpoint: "http://s3", accessKey: "a", secretKey: "b", bucket: "c" };
  expect(envOf("artifact-store", { s3 })).toMatchObject({ HARRIER_S3_ENDPOINT: "http://s3", HARRIER_S3_BUCKET: "c" });
  expect(envOf("artifact-store", { s3 })).not.toHaveProperty("HARRIER_S3_PUBLIC_ENDPOINT");
  const reached = { ...s3, publicEndpoint: "https://files" };
  expect(envOf("artifact-store", { s3: reached })["HARRIER_S3_PUBLIC_ENDPOINT"]).toBe("https://files");
  expect(envOf("artifact-store")).not.toHaveProperty("HARRIER_STORAGE_RESERVE");
  expect(envOf("artifact-store", { storageReserve: 5 })["HARRIER_STORAGE_RESERVE"]).toBe("5");
  const days = { eventDays: 7, artifactKeepDays: 30 };
  const given = (name: string) => serviceNames.filter((service) => name in envOf(service, days));
  expect([given("HARRIER_EVENT_DAYS"), given("HARRIER_ARTIFACT_KEEP_DAYS")]).toEqual([
    ["management", "controller", "rollout-engine"],
    ["artifact-store"],
  ]);
  expect(envOf("artifact-store", { s3 })).not.toHaveProperty("HARRIER_STORAGE_DIR");
  expect(envOf("controller", { s3, kafkaBrokers: "k:1" })).not.toHaveProperty("HARRIER_S3_SECRET_KEY");
});

test("settings of one service go to no other", () => {
  const given = { gateway: { OF: "gateway" }, controller: { OF: "controller" }, management: { OF: "management" } };
  const services = Object.keys(given) as (keyof typeof given)[];
  expect(services.map((service) => envOf(service, given)["OF"])).toEqual(services);
  expect(serviceNames.filter((service) => "OF" in envOf(service, { management: given.management }))).toEqual(["management"]);
});

test("each service with an audit trail signs with its own key, and management knows the public ones", () => {
  expect(envOf("rollout-engine")["HARRIER_AUDIT_KEY"]).toBe(auditKey(2));
  for (const service of ["controller", "gateway"] as const) expect(envOf(service)).not.toHaveProperty("HARRIER_AUDIT_KEY");
  const { HARRIER_AUDIT_KEY: own, HARRIER_AUDIT_PUBLIC_KEYS: all } = envOf("management");
  expect(own).toBe(auditKey(1));
  expect(all?.split(",").map((part) => part.split("=")[0])).toEqual(["management", "rollout-engine", "artifact-store"]);
  for (const n of [2, 3]) expect(JSON.stringify(envOf("management"))).not.toContain(auditKey(n));
});

test("only one service gets a variable that is set for it alone, and that overrides a variable for all", () => {
  const given = { extra: { SAID: "to all" }, envOf: { controller: { SAID: "to controller" } } };
  expect(envOf("controller", given)["SAID"]).toBe("to controller");
  expect(envOf("management", given)["SAID"]).toBe("to all");
});
