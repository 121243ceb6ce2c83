import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stack, startStack } from "@harrier/stack";
import type { TestProject } from "vitest/node";
import { startTurns } from "./turns.ts";
import { makeWaiting, type Waiting } from "./waiting.ts";

/** What the tests know of the service: its address, and what an operator would have noted down. */
export interface ServiceUnderTest {
  baseUrl: string;
  adminUser: string;
  adminPassword: string;
  /** The tenant's gateway token. */
  gatewayKey: string;
  turnsUrl: string;
  /** Where artifacts lie, where this run started the service itself; "" otherwise. */
  storageDir: string;
  /** The database's superuser, where this run started the service itself; "" otherwise. */
  databaseUrl: string;
  /** Tests from 127.0.0.1 may say whom they pass requests on for, and nobody else may. */
  trustsUs: boolean;
  /** Actions that wait for their confirmation, for files that cannot switch the flow on themselves. */
  waiting: Waiting[];
}

declare module "vitest" {
  export interface ProvidedContext {
    service: ServiceUnderTest;
  }
}

/** Settings of the tenant as the cases expect them: the defaults, both ways for a device to sign in, and approval of what others create. */
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

/** BASE_URL names a running service (with HARRIER_ADMIN_PASSWORD); without it one is started, two replicas where replicas could differ. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["BASE_URL"];
  const own = given === undefined || given === "" ? await startOwn() : undefined;
  const baseUrl = (own?.stack.baseUrl ?? given ?? "").replace(/\/$/, "");
  const adminUser = own?.stack.adminUser ?? process.env["HARRIER_ADMIN_USER"] ?? "admin";
  const adminPassword = own?.stack.adminPassword ?? process.env["HARRIER_ADMIN_PASSWORD"] ?? "";
  const turns = await startTurns();
  const stop = async () => {
    await turns.stop();
    await own?.stop();
  };
  let waiting: Waiting[];
  try {
    waiting = await prepareTenant(baseUrl, `Basic ${Buffer.from(`${adminUser}:${adminPassword}`).toString("base64")}`);
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
    turnsUrl: turns.url,
    storageDir,
    databaseUrl: own?.stack.adminDatabaseUrl ?? "",
    trustsUs: own !== undefined,
    waiting,
  });
  return stop;
}

async function startOwn(): Promise<{ stack: Stack; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-contract-"));
  const keep = process.env["KEEP_DATA"] !== undefined;
  const remove = () => (keep ? console.log(`kept ${dataDir}`) : rmSync(dataDir, { recursive: true, force: true }));
  try {
    // the suite's own requests come from a trusted proxy that is exempt from rates; those that name a client are that client's
    const gateway = {
      HARRIER_TRUSTED_PROXIES: "127.0.0.1/32",
      // both families that hawkBit has spoken (contract device.md §9.2)
      HARRIER_CERTIFICATE_HEADERS: "X-Ssl-Client-Cn:X-Ssl-Issuer-Hash-%d,X-Controller-Id:X-Authority",
    };
    // so that a deleted tenant is gone while a case looks on
    const env = { HARRIER_LATE_REQUESTS_SECONDS: "3" };
    const stack = await startStack({ dataDir, httpPort: 0, replicas: { controller: 2, "rollout-engine": 2 }, gateway, env });
    return {
      stack,
      async stop() {
        await stack.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function prepareTenant(baseUrl: string, authorization: string): Promise<Waiting[]> {
  const configs = `${baseUrl}/api/mgmt/v1/system/configs`;
  const expectOk = async (what: string, answer: Response) => {
    if (!answer.ok) throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
  };
  const headers = { authorization, "content-type": "application/json" };
  // a gateway may be ready a moment before its first connection to a neighbour is
  for (let n = 0; n < 50 && (await fetch(configs, { headers: { authorization } })).status === 503; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await expectOk("settings", await fetch(configs, { method: "PUT", headers, body: JSON.stringify(settings) }));
  for (const key of atDefault) await expectOk(key, await fetch(`${configs}/${key}`, { method: "DELETE", headers: { authorization } }));
  const waiting = await makeWaiting(`${baseUrl}/api/mgmt/v1`, headers);
  // controller reads settings twice a second
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return waiting;
}
