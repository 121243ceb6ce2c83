import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stack, startPostgres, startStack } from "@harrier/stack";
import { type Admin, createAdmin, eventually, succeeded } from "@harrier/testkit";
import type { TestProject } from "vitest/node";
import { startBrokerStub } from "./broker-stub.ts";
import { makeWaiting, type Waiting } from "./waiting.ts";

/** What the tests know of the service: its address and its operator's credentials. */
export interface ServiceUnderTest {
  baseUrl: string;
  adminUser: string;
  adminPassword: string;
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
  const adminUser = own?.stack.adminUser ?? process.env["HARRIER_ADMIN_USER"] ?? "admin";
  const adminPassword = own?.stack.adminPassword ?? process.env["HARRIER_ADMIN_PASSWORD"] ?? "";
  const stop = async () => own?.stop();
  let waiting: Waiting[];
  try {
    waiting = await prepareTenant(createAdmin({ baseUrl, user: adminUser, password: adminPassword }));
  } catch (error) {
    await stop();
    throw error;
  }
  const storageDir = own === undefined ? "" : join(own.stack.dataDir, "artifacts");
  project.provide("service", {
    baseUrl,
    adminUser,
    adminPassword,
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
      envOf: { management: { HARRIER_AMQP_URL: "amqp://harrier:stub@127.0.0.1:5672", HARRIER_AMQP_MANAGEMENT_URL: broker.managementUrl } },
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

async function prepareTenant(admin: Admin): Promise<Waiting[]> {
  const configs = "system/configs";
  // A gateway may be ready a moment before its first connection to another service is.
  await eventually(async () => succeeded(await admin.call(configs), configs), 10_000, 200);
  succeeded(await admin.call(configs, { method: "PUT", body: settings }), "settings");
  for (const key of atDefault) succeeded(await admin.call(`${configs}/${key}`, { method: "DELETE" }), key);
  const waiting = await makeWaiting(admin);
  // Controller reads settings twice a second.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return waiting;
}
