import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stack, startPostgres, startStack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, succeeded } from "@harrier/testkit";
import type { TestProject } from "vitest/node";
import { startBrokerStub } from "./broker-stub.ts";
import { importedPassword } from "./passwords.ts";
import { makeWaiting, type Waiting } from "./waiting.ts";

/** What the tests know of the service: its address and its operator's credentials. */
export interface ServiceUnderTest {
  baseUrl: string;
  adminUser: string;
  adminPassword: string;
  /** The name of the administrator of the configuration. */
  systemUser: string;
  /** The tenant's gateway token. */
  gatewayKey: string;
  /** The folder of the artifacts if this run started the service itself; "" otherwise. */
  storageDir: string;
  /** The address of the database, as superuser, if this run started the service itself; "" otherwise. */
  databaseUrl: string;
  /** True if the service trusts forwarded headers from 127.0.0.1, and from no other address. */
  trustsUs: boolean;
  /** Actions that wait for their confirmation, for files that cannot switch the confirmation flow on themselves. */
  waiting: Waiting[];
}

declare module "vitest" {
  export interface ProvidedContext {
    service: ServiceUnderTest;
  }
}

/** The administrators of DEFAULT, if this run starts the service itself: that of the configuration, and the one whom the cases work as. */
const [systemOfOwn, adminOfOwn] = ["operator", "admin"];

/** The cases expect these settings of the tenant: the defaults, both ways for a device to sign in, and approval of what others create. */
const gatewayKey = "contract-suite-gateway-key";
const settings = {
  "rollout.approval.enabled": true,
  "auto.assignment.approval.enabled": true,
  "authentication.targettoken.enabled": true,
  "authentication.gatewaytoken.enabled": true,
  "authentication.gatewaytoken.key": gatewayKey,
};
const atDefault = [
  "pollingTime",
  "pollingOverdueTime",
  "repository.actions.autoclose.enabled",
  "implicit.lock.enabled",
  "anonymous.download.enabled",
  "user.confirmation.flow.enabled",
];

/**
 * BASE_URL names a running service (with HARRIER_ADMIN_PASSWORD). Without it this starts one, with two replicas of the services whose replicas could
 * differ.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["BASE_URL"];
  const own = given === undefined || given === "" ? await startOwn() : undefined;
  const baseUrl = (own?.stack.baseUrl ?? given ?? "").replace(/\/$/, "");
  const system = {
    user: own === undefined ? (process.env["HARRIER_ADMIN_USER"] ?? adminOfOwn) : systemOfOwn,
    password: own?.stack.adminPassword ?? process.env["HARRIER_ADMIN_PASSWORD"] ?? "",
  };
  const stop = async () => own?.stop();
  let operator = system;
  let waiting: Waiting[];
  try {
    if (own !== undefined) operator = await makeOperator(createAdmin({ baseUrl, ...system }));
    waiting = await prepareTenant(createAdmin({ baseUrl, ...operator }));
  } catch (error) {
    await stop();
    throw error;
  }
  const storageDir = own === undefined ? "" : join(own.stack.dataDir, "artifacts");
  project.provide("service", {
    baseUrl,
    adminUser: operator.user,
    adminPassword: operator.password,
    systemUser: system.user,
    gatewayKey,
    storageDir,
    databaseUrl: own?.stack.adminDatabaseUrl ?? "",
    trustsUs: own !== undefined,
    waiting,
  });
  return stop;
}

/** Starts the services on a PostgreSQL that does not sync, unless the data are to be kept: what survives a crash is shown in `tests/e2e`. */
async function startOwn(): Promise<{ stack: Stack; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-contract-"));
  const keep = process.env["KEEP_DATA"] !== undefined;
  const database = keep ? undefined : await startPostgres();
  const broker = await startBrokerStub();
  const remove = async () => {
    await broker.stop();
    await database?.stop();
    if (keep) console.log(`kept ${dataDir}`);
    else rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    // The suite's own requests come from a trusted proxy that no rate limits; a request that names a client counts as that client's.
    const gateway = {
      HARRIER_TRUSTED_PROXIES: "127.0.0.1/32",
      // These are both header families that hawkBit has used (contract device.md §9.2).
      HARRIER_CERTIFICATE_HEADERS: "X-Ssl-Client-Cn:X-Ssl-Issuer-Hash-%d,X-Controller-Id:X-Authority",
    };
    // The short time lets a deleted tenant be erased while a case runs.
    const env = { HARRIER_LATE_REQUESTS_SECONDS: "3" };
    const stack = await startStack({
      dataDir,
      httpPort: 0,
      replicas: { controller: 2, "rollout-engine": 2 },
      gateway,
      env,
      envOf: {
        management: {
          HARRIER_ADMIN_USER: systemOfOwn,
          HARRIER_AMQP_URL: "amqp://harrier:stub@127.0.0.1:5672",
          HARRIER_AMQP_MANAGEMENT_URL: broker.managementUrl,
        },
      },
      ...(database && { database: database.url }),
    });
    return {
      stack,
      async stop() {
        await stack.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Makes another operator, who may do what the one of the configuration may: the gateway verifies an administrator again whenever a role or a setting
 * of the sign-in changes, and the suite makes many such changes.
 */
async function makeOperator(system: Admin): Promise<{ user: string; password: string }> {
  const { permissions } = await ready(() => system.get<{ permissions: string[] }>("userinfo"));
  const { password, passwordHash } = await importedPassword();
  await system.post("users", [{ name: adminOfOwn, passwordHash, permissions }]);
  return { user: adminOfOwn, password };
}

/** A gateway may be ready a moment before its first connection to another service is. */
const ready = <T>(view: () => Promise<T>) => eventually(view, 10_000, 200);

async function prepareTenant(admin: Admin): Promise<Waiting[]> {
  const configs = "system/configs";
  await ready(async () => succeeded(await admin.call(configs), configs));
  succeeded(await admin.call(configs, { method: "PUT", body: settings }), "settings");
  for (const key of atDefault) succeeded(await admin.call(`${configs}/${key}`, { method: "DELETE" }), key);
  const waiting = await makeWaiting(admin);
  // Controller reads settings twice a second.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return waiting;
}
