import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stack, startStack } from "@harrier/stack";
import type { TestProject } from "vitest/node";
import { startTurns } from "./turns.ts";

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
}

declare module "vitest" {
  export interface ProvidedContext {
    service: ServiceUnderTest;
  }
}

/** Settings of the tenant as the cases expect them: the defaults, and both ways for a device to sign in. */
const gatewayKey = "contract-suite-gateway-key";
const signIn = {
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
  try {
    await prepareTenant(baseUrl, `Basic ${Buffer.from(`${adminUser}:${adminPassword}`).toString("base64")}`);
  } catch (error) {
    await stop();
    throw error;
  }
  const storageDir = own === undefined ? "" : join(own.stack.dataDir, "artifacts");
  project.provide("service", { baseUrl, adminUser, adminPassword, gatewayKey, turnsUrl: turns.url, storageDir });
  return stop;
}

async function startOwn(): Promise<{ stack: Stack; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), "harrier-contract-"));
  const keep = process.env["KEEP_DATA"] !== undefined;
  const remove = () => (keep ? console.log(`kept ${dataDir}`) : rmSync(dataDir, { recursive: true, force: true }));
  try {
    const stack = await startStack({ dataDir, httpPort: 0, replicas: { controller: 2, "rollout-engine": 2 } });
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

async function prepareTenant(baseUrl: string, authorization: string): Promise<void> {
  const configs = `${baseUrl}/api/mgmt/v1/system/configs`;
  const expectOk = async (what: string, answer: Response) => {
    if (!answer.ok) throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
  };
  const headers = { authorization, "content-type": "application/json" };
  // a gateway may be ready a moment before its first connection to a neighbour is
  for (let n = 0; n < 50 && (await fetch(configs, { headers: { authorization } })).status === 503; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await expectOk("sign-in settings", await fetch(configs, { method: "PUT", headers, body: JSON.stringify(signIn) }));
  for (const key of atDefault) await expectOk(key, await fetch(`${configs}/${key}`, { method: "DELETE", headers: { authorization } }));
  // controller reads settings twice a second
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
