import type { Stack } from "@harrier/stack";
import { basic, eventually, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayUrls } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Permissions are restricted to target types, through two gateways and all owners of targets, actions and rollouts (management 12.137).

interface Answer<T> {
  status: number;
  json: T;
}
interface Page<T> {
  content: T[];
  total: number;
}

const [mine, theirs] = [901, 902];
const ofTargets = ["READ_TARGET", "CREATE_TARGET", "UPDATE_TARGET", "DELETE_TARGET"];
const others = ["READ_REPOSITORY", "READ_ROLLOUT", "CREATE_ROLLOUT", "UPDATE_ROLLOUT", "DELETE_ROLLOUT", "HANDLE_ROLLOUT"];
const password = "correct horse";
/** A changed grant takes effect at every gateway within this time. */
const heardMs = 5_000;

let stack: Stack;
let userId: number;

async function ask<T>(authorization: string, method: string, path: string, body?: unknown, gateway = stack.baseUrl): Promise<Answer<T>> {
  const headers = { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${gateway}/api/mgmt/v1/${path}`, init);
  const text = await answer.text();
  return { status: answer.status, json: (text === "" ? undefined : JSON.parse(text)) as T };
}
const limited = <T = unknown>(method: string, path: string, body?: unknown) => ask<T>(basic("limited", password), method, path, body);
async function admin<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { status, json } = await ask<T>(basic(stack.adminUser, stack.adminPassword), method, path, body);
  expect(status, `${method} ${path} answered ${status} ${JSON.stringify(json)}`).toBeLessThan(300);
  return json;
}
const scoped = (types: number[]) => [
  ...others.map((permission) => ({ permission })),
  ...ofTargets.map((permission) => ({ permission, targetTypeScopes: types })),
];
const idsOf = async (path: string) =>
  (await limited<Page<{ controllerId: string }>>("GET", path)).json.content.map((target) => target.controllerId).toSorted();

async function newSet(name: string): Promise<number> {
  const [module] = await admin<{ id: number }[]>("POST", "softwaremodules", [{ name, version: "1", type: "os" }]);
  const [set] = await admin<{ id: number }[]>("POST", "distributionsets", [{ name, version: "1", type: "os", modules: [module] }]);
  return set?.id as number;
}
const newRollout = (distributionSetId: number) => ({
  name: `rollout of ${distributionSetId}`,
  targetFilterQuery: "name==*",
  distributionSetId,
  amountGroups: 1,
});

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: { gateway: 2, controller: 2 } });
  await withClient(stack.databaseUrls.management, async (client) => {
    await client.query(
      `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
       select 1, n, 'type ' || n, 'type ' || n, 'test', 'test' from unnest($1::bigint[]) n`,
      [[mine, theirs]],
    );
    await client.query(
      `insert into target_type_set_types (tenant_id, target_type_id, set_type_id)
       select 1, n, s.id from unnest($1::bigint[]) n, distribution_set_types s where s.key = 'os'`,
      [[mine, theirs]],
    );
  });
  await admin("POST", "targets", [
    { controllerId: "mine-1", targetType: mine },
    { controllerId: "mine-2", targetType: mine },
    { controllerId: "theirs", targetType: theirs },
    { controllerId: "untyped" },
  ]);
  const [user] = await admin<{ id: number }[]>("POST", "users", [{ name: "limited", password }]);
  userId = user?.id as number;
  await admin("PUT", `users/${userId}/permissions`, scoped([mine]));
});
afterAll(() => stack?.stop());

test("lists, counts and searches contain only targets of these types, and others are unknown", async () => {
  expect(await idsOf("targets")).toEqual(["mine-1", "mine-2"]);
  expect((await limited<Page<unknown>>("GET", "targets?limit=1")).json).toMatchObject({ total: 2 });
  expect(await idsOf("targets?q=controllerid==*")).toEqual(["mine-1", "mine-2"]);
  expect(await idsOf("targets?q=controllerid==theirs,controllerid==mine-1")).toEqual(["mine-1"]);
  expect((await limited("GET", "targets/mine-1")).status).toBe(200);
  for (const id of ["theirs", "untyped", "nobody"]) expect((await limited("GET", `targets/${id}`)).status).toBe(404);
});

test("targets are created, changed and deleted within these types, and not moved out of them", async () => {
  expect((await limited("POST", "targets", [{ controllerId: "new", targetType: mine }])).status).toBe(201);
  for (const targetType of [theirs, undefined]) {
    expect((await limited("POST", "targets", [{ controllerId: "refused", targetType }])).status).toBe(403);
  }
  expect((await limited("PUT", "targets/new", { name: "renamed" })).json).toMatchObject({ name: "renamed" });
  for (const targetType of [theirs, -1]) expect((await limited("PUT", "targets/new", { targetType })).status).toBe(403);
  expect((await limited("PUT", "targets/theirs", { name: "renamed" })).status).toBe(404);
  expect((await limited("DELETE", "targets/theirs")).status).toBe(404);
  expect((await limited("DELETE", "targets/new")).status).toBe(200);
  expect(await admin("GET", "targets/theirs")).toMatchObject({ name: "theirs", targetType: theirs });
});

test("assignments reach only targets of these types, and actions of others are unknown", async () => {
  const all = ["mine-1", "mine-2", "theirs", "untyped"].map((id) => ({ id }));
  const path = `distributionsets/${await newSet(`assigned ${Date.now()}`)}/assignedTargets`;
  expect((await limited("POST", path, all)).json).toMatchObject({ assigned: 2, alreadyAssigned: 0, total: 2 });
  expect(await admin("POST", path, all)).toMatchObject({ assigned: 2, alreadyAssigned: 2, total: 4 });
  expect(await idsOf(path)).toEqual(["mine-1", "mine-2"]);
  expect((await limited<Page<unknown>>("GET", "actions")).json.total).toBe(2);
  const { content } = await admin<Page<{ id: number }>>("GET", "targets/theirs/actions");
  const id = content[0]?.id as number;
  expect((await limited("GET", `actions/${id}`)).status).toBe(404);
  for (const target of ["theirs", "mine-1"]) {
    const own = `targets/${target}/actions/${id}`;
    expect((await limited("GET", own)).status).toBe(404);
    expect((await limited("GET", `${own}/status`)).status).toBe(404);
    expect((await limited("PUT", own, { forceType: "forced" })).status).toBe(404);
    expect((await limited("DELETE", own)).status).toBe(404);
  }
  expect(await admin("GET", `actions/${id}`)).toMatchObject({ active: true, detailStatus: "running" });
});

test("a restricted user's rollout reaches only these types, whoever starts it; one that reaches further is not found", async () => {
  interface Rollout {
    id: number;
    status: string;
    totalTargets: number;
  }
  const become = (id: number, status: string) =>
    eventually(async () => {
      const seen = await admin<Rollout>("GET", `rollouts/${id}`);
      if (seen.status !== status) throw new Error(`rollout ${id} is ${seen.status}`);
    }, 20_000);
  const members = async (ask_: typeof limited, id: number) => {
    const { content } = await admin<Page<{ id: number }>>("GET", `rollouts/${id}/deploygroups`);
    const { json } = await ask_<Page<{ controllerId: string }>>("GET", `rollouts/${id}/deploygroups/${content[0]?.id}/targets`);
    return json.content.map((target) => target.controllerId).toSorted();
  };
  const asAdmin = async <T>(method: string, path: string) => ({ status: 200, json: await admin<T>(method, path) });

  const set = await newSet(`rolled out ${Date.now()}`);
  const own = (await limited<Rollout>("POST", "rollouts", newRollout(set))).json;
  expect(own).toMatchObject({ totalTargets: 2, targetFilterQuery: "name==*" });
  await become(own.id, "ready");
  await admin("POST", `rollouts/${own.id}/start`);
  await become(own.id, "running");
  expect(await members(asAdmin, own.id)).toEqual(["mine-1", "mine-2"]);
  const assigned = (id: string) => admin<{ id: number }>("GET", `targets/${id}/assignedDS`);
  await eventually(async () => expect((await assigned("mine-2")).id).toBe(set), 20_000);
  expect((await assigned("theirs")).id).not.toBe(set);

  const whole = await admin<Rollout>("POST", "rollouts", newRollout(await newSet(`for all ${Date.now()}`)));
  await become(whole.id, "ready");
  expect(await members(asAdmin, whole.id)).toEqual(expect.arrayContaining(["mine-1", "mine-2", "theirs", "untyped"]));
  const groupId = (await admin<Page<{ id: number }>>("GET", `rollouts/${whole.id}/deploygroups`)).content[0]?.id;
  for (const path of ["", "/deploygroups", `/deploygroups/${groupId}`, `/deploygroups/${groupId}/targets`])
    expect((await limited("GET", `rollouts/${whole.id}${path}`)).status, path).toBe(404);
  for (const verb of ["start", "pause", "resume"]) expect((await limited("POST", `rollouts/${whole.id}/${verb}`)).status, verb).toBe(404);
  expect((await limited("PUT", `rollouts/${whole.id}`, { name: "mine now" })).status).toBe(404);
  expect((await limited("DELETE", `rollouts/${whole.id}`)).status).toBe(404);
  expect(await admin("GET", `rollouts/${whole.id}`)).toMatchObject({ status: "ready" });

  // A rollout of another user that reaches no further than the user's types can be controlled by the user.
  const within = { ...newRollout(await newSet(`within ${Date.now()}`)), targetFilterQuery: "controllerId==mine-*" };
  const others = await admin<Rollout>("POST", "rollouts", within);
  await become(others.id, "ready");
  const seen = (await limited<Page<Rollout>>("GET", "rollouts")).json;
  expect(seen.content.map(({ id }) => id).toSorted()).toEqual([own.id, others.id].toSorted());
  expect(seen.total).toBe(2);
  expect(await members(limited, others.id)).toEqual(["mine-1", "mine-2"]);
  expect((await limited("POST", `rollouts/${others.id}/start`)).status).toBeLessThan(300);
  await become(others.id, "running");
  expect((await limited("POST", `rollouts/${others.id}/pause`)).status).toBeLessThan(300);
  await become(others.id, "paused");
  expect((await limited("POST", `rollouts/${others.id}/resume`)).status).toBeLessThan(300);
  await become(others.id, "running");
});

test("other target types take effect at every gateway within seconds, and so does their removal", async () => {
  const seenBy = async (gateway: string) => {
    const { status, json } = await ask<Page<unknown>>(basic("limited", password), "GET", "targets", undefined, gateway);
    return status === 200 ? json.total : status;
  };
  const everywhere = async (expected: number) => {
    const began = Date.now();
    for (const gateway of gatewayUrls(stack)) await eventually(async () => expect(await seenBy(gateway)).toBe(expected), heardMs);
    return Date.now() - began;
  };
  await everywhere(2);
  const took: Record<string, number> = {};
  for (const [types, expected] of [
    [[mine, theirs], 3],
    [[], 0],
    [[theirs], 1],
  ] as const) {
    await admin("PUT", `users/${userId}/permissions`, scoped([...types]));
    took[types.join()] = await everywhere(expected);
  }
  await admin("DELETE", `users/${userId}/permissions/READ_TARGET`);
  took["no permission"] = await everywhere(403);
  await admin("POST", `users/${userId}/permissions`, ["READ_TARGET"]);
  took["no restriction"] = await everywhere((await admin<Page<unknown>>("GET", "targets")).total);
  await admin("DELETE", `users/${userId}`);
  took["deleted"] = await everywhere(401);
  console.log("ms until both gateways knew:", took);
  expect(Math.max(...Object.values(took))).toBeLessThan(heardMs);
});
