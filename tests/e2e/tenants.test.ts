import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, dumpTenants, eventually, movingTables, outlivingTables, uniqueName, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, gatewayUrls } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// Tenants are managed through several gateways, and while processes are killed (contract extensions.md, tenants).

/** Every gateway denies principals of a suspended tenant within this time. */
const heardMs = 5_000;
const targets = 400;
let stack: Stack;

beforeAll(async () => {
  // The denied client asks repeatedly here, and must be denied for its tenant only.
  const env = { HARRIER_LATE_REQUESTS_SECONDS: "6", HARRIER_SIGN_IN_FAILURES_ACCOUNT: "0" };
  stack = await startAnsweringStack({ replicas: { gateway: 2, controller: 2, management: 2, "rollout-engine": 2 }, env });
});
afterAll(() => stack?.stop());

interface Tenant {
  name: string;
  id: number;
  admin: Admin;
  password: string;
  gatewayKey: string;
}

const asSuperuser = <T>(work: Parameters<typeof withClient<T>>[1]): Promise<T> => withClient(stack.adminDatabaseUrl as string, work);

async function makeTenant(prefix: string): Promise<Tenant> {
  const name = uniqueName(prefix);
  const [made] = await adminOf(stack).post<{ administrator: { password: string } }[]>("system/tenants", [
    { name, administrator: { name: "boss" } },
  ]);
  const password = made?.administrator.password as string;
  const admin = createAdmin({ baseUrl: stack.baseUrl, user: `${name}\\boss`, password });
  const gatewayKey = uniqueName("key-of-the-gateway");
  await admin.configure("authentication.gatewaytoken.key", gatewayKey);
  await admin.configure("authentication.gatewaytoken.enabled", true);
  const { rows } = await asSuperuser((client) =>
    client.query<{ id: number }>("select tenant_id as id from management.tenants where name = $1", [name]),
  );
  return { name, id: rows[0]?.id as number, admin, password, gatewayKey };
}

/** Creates targets, a running rollout, actions with their history, and artifacts. */
async function fill({ admin, name, gatewayKey }: Tenant, n: number): Promise<void> {
  const prefix = uniqueName("fleet");
  await admin.createTargets(n, prefix);
  const { set } = await admin.createSetWithFile(`of ${name}`);
  for (let file = 0; file < 12; file += 1) await admin.createSetWithFile(`${file} of ${name}`);
  await admin.createSetWithFile("the same in every tenant");
  const { id } = await admin.post<{ id: number }>("rollouts", {
    name: uniqueName("rollout"),
    distributionSetId: set.id,
    targetFilterQuery: `name==${prefix}*`,
    amountGroups: 2,
  });
  const status = async () => (await admin.get<{ status: string }>(`rollouts/${id}`)).status;
  await eventually(async () => expect(await status()).toBe("ready"), 30_000);
  await admin.post(`rollouts/${id}/start`);
  await eventually(async () => expect(await status()).toBe("running"), 30_000);
  await eventually(async () => {
    const answer = await poll(stack.baseUrl, name, gatewayKey, `${prefix}-0000`);
    expect(answer).toBe(200);
  });
}

async function poll(gateway: string, tenant: string, key: string, controllerId = "device"): Promise<number> {
  const answer = await fetch(`${gateway}/${tenant}/controller/v1/${controllerId}`, { headers: { authorization: `GatewayToken ${key}` } });
  await answer.arrayBuffer();
  return answer.status;
}

async function signIn(gateway: string, { name, password }: Tenant): Promise<number> {
  const { status } = await createAdmin({ baseUrl: gateway, user: `${name}\\boss`, password }).call("userinfo");
  return status;
}

/** Reads the rows of a tenant in every table of every service, except for the logs that stay. */
const dump = (ids: readonly number[], except: readonly string[] = []) =>
  asSuperuser((client) => dumpTenants(client, ids, { except: [...outlivingTables, ...except] }));
const objectsOf = (id: number): string[] => {
  const files = readdirSync(join(stack.dataDir, "artifacts"), { recursive: true, withFileTypes: true });
  return files.filter((file) => file.isFile() && file.parentPath.endsWith(`/${id}`)).map((file) => file.name);
};
const stagedOf = (id: number): string[] =>
  readdirSync(join(stack.dataDir, "artifacts", "staging")).filter((name) => name.startsWith(`${id}-`));

/** Reads rows and objects of a tenant, except for what changes by itself, whatever process is killed. */
const stateOf = async (id: number) => ({ rows: await dump([id], movingTables), objects: objectsOf(id) });

/** Waits until the effects of the last requests have ended: longer than the engine and the controller need to poll twice. */
async function settledState(id: number): Promise<Awaited<ReturnType<typeof stateOf>>> {
  let last: unknown;
  const readState = async () => {
    const [before, now] = [last, await stateOf(id)];
    last = now;
    expect(now).toEqual(before);
    return now;
  };
  return eventually(readState, 60_000, 1_500);
}

test("every gateway denies a suspended tenant within seconds, and each admits it again", async () => {
  const tenant = await makeTenant("suspended");
  const everywhere = () =>
    Promise.all(gatewayUrls(stack).flatMap((gateway) => [poll(gateway, tenant.name, tenant.gatewayKey), signIn(gateway, tenant)]));
  const all = (status: number) => gatewayUrls(stack).flatMap(() => [status, status]);
  await eventually(async () => expect(await everywhere()).toEqual(all(200)));
  for (const [step, status] of [
    ["suspend", 401],
    ["resume", 200],
  ] as const) {
    await adminOf(stack).post(`system/tenants/${tenant.name}/${step}`);
    const began = Date.now();
    await eventually(async () => expect(await everywhere()).toEqual(all(status)), heardMs, 50);
    expect(Date.now() - began).toBeLessThan(heardMs);
    for (let again = 0; again < 10; again += 1) expect(await everywhere()).toEqual(all(status));
  }
});

interface Operation {
  id: number;
  status: string;
  done: number;
  total?: number;
}

test("a tenant is deleted to its last row and object while processes are killed, and no other tenant loses anything", async () => {
  const [going, staying] = [await makeTenant("going"), await makeTenant("staying")];
  await Promise.all([fill(going, targets), fill(staying, 20)]);
  const before = await settledState(staying.id);
  expect(Object.keys(await dump([going.id])).length).toBeGreaterThan(20);
  expect(objectsOf(going.id)).toHaveLength(14);

  const { body: begun, status } = await adminOf(stack).call<Operation>(`system/tenants/${going.name}`, { method: "DELETE" });
  expect(status).toBe(202);
  const path = `operations/${begun.id}`;
  const seen: Operation[] = [];
  // Each is killed twice, at arbitrary moments.
  for (const [service, index] of [
    ["management", 0],
    ["controller", 0],
    ["management", 1],
    ["controller", 1],
    ["management", 0],
  ] as const) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    stack.kill(service, index);
    const { body } = await adminOf(stack)
      .call<Operation>(path)
      .catch(() => ({ body: undefined }));
    if (body?.status !== undefined) seen.push(body);
  }
  await answering(stack);
  const ended = await eventually(
    async () => {
      const now = await adminOf(stack).get<Operation>(path);
      expect(now.status).toBe("finished");
      return now;
    },
    150_000,
    500,
  );
  expect(ended.done).toBe(ended.total);
  // The progress never decreases.
  expect(seen.map(({ done }) => done)).toEqual(seen.map(({ done }) => done).toSorted((a, b) => a - b));

  expect(await dump([going.id])).toEqual({});
  expect([objectsOf(going.id), stagedOf(going.id)]).toEqual([[], []]);
  expect(await stateOf(staying.id)).toEqual(before);
  for (const gateway of gatewayUrls(stack)) {
    expect(await poll(gateway, going.name, going.gatewayKey)).toBe(401);
    expect(await poll(gateway, staying.name, staying.gatewayKey, "device")).toBe(200);
  }
  // The name is free, and a new tenant of that name is empty.
  const next = await adminOf(stack).post<{ name: string }[]>("system/tenants", [{ name: going.name }]);
  expect(next).toMatchObject([{ name: going.name, status: "active" }]);
}, 300_000);
