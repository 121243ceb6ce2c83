import { type Admin, createAdmin, uniqueName } from "@harrier/testkit";

/** A set with one file, which devices can install. */
export async function makeSet(admin: Admin, name = uniqueName("firmware")): Promise<{ id: number; name: string }> {
  const [module] = await admin.post<{ id: number }[]>("softwaremodules", [{ name, version: "1.0", type: "os" }]);
  const form = new FormData();
  form.append("file", new Blob([name.repeat(1000)]), `${name}.bin`);
  await admin.call(`softwaremodules/${module?.id}/artifacts`, { method: "POST", body: form });
  const [set] = await admin.post<{ id: number; name: string }[]>("distributionsets", [
    { name, version: "1.0", type: "os", modules: [{ id: module?.id }] },
  ]);
  if (set === undefined) throw new Error("the set was not made");
  return set;
}

/** Devices that can sign in with their own tokens. */
export async function makeDevices(admin: Admin, prefix: string, count: number): Promise<{ controllerId: string; token: string }[]> {
  await admin.configure("authentication.targettoken.enabled", true);
  const body = Array.from({ length: count }, (_, index) => ({ controllerId: `${prefix}-${String(index).padStart(3, "0")}` }));
  const made = await admin.post<{ controllerId: string; securityToken: string }[]>("targets", body);
  return made.map(({ controllerId, securityToken }) => ({ controllerId, token: securityToken }));
}

export const adminOf = (stack: { baseUrl: string; adminPassword: string }): Admin =>
  createAdmin({ baseUrl: stack.baseUrl, password: stack.adminPassword });
