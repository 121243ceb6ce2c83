import { randomBytes } from "node:crypto";
import type { Stack } from "@harrier/stack";
import { type Admin, basic, createAdmin, uniqueName } from "@harrier/testkit";
import { adminOf } from "../../support/replicas.ts";

/** A tenant whose devices sign in with the tokens of their targets. */
export interface Tenant {
  readonly name: string;
  readonly boss: Admin;
  /** The Authorization header of its administrator. */
  readonly authorization: string;
}

export interface TenantDevice {
  readonly controllerId: string;
  readonly authorization: string;
  /** The path of the target's own resources. */
  readonly path: string;
}

export async function makeTenant(stack: Stack, prefix: string): Promise<Tenant> {
  const name = uniqueName(prefix);
  const [made] = await adminOf(stack).post<{ administrator: { password: string } }[]>("system/tenants", [
    { name, administrator: { name: "boss" } },
  ]);
  const password = made?.administrator.password as string;
  const boss = createAdmin({ baseUrl: stack.baseUrl, user: `${name}\\boss`, password });
  await boss.configure("authentication.targettoken.enabled", true);
  return { name, boss, authorization: basic(`${name}\\boss`, password) };
}

export async function makeDevice({ name, boss }: Tenant): Promise<TenantDevice> {
  const { controllerId, securityToken } = await boss.createTarget();
  return { controllerId, authorization: `TargetToken ${securityToken}`, path: `/${name}/controller/v1/${controllerId}` };
}

/** Makes Authorization headers of users who have never signed in. */
export async function makeUsers({ name, boss }: Tenant, n: number): Promise<string[]> {
  const users = Array.from({ length: n }, () => ({
    name: uniqueName("user"),
    password: randomBytes(15).toString("base64url"),
    permissions: ["READ_TARGET"],
  }));
  await boss.post("users", users);
  return users.map((user) => basic(`${name}\\${user.name}`, user.password));
}
