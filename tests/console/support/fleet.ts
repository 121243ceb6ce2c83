import { type Admin, createAdmin, uniqueName } from "@harrier/testkit";
import type { Login } from "./browser.ts";

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

/** Makes devices with the names `<prefix>-000000` and on, as many as are asked for, by import; answers the last name. */
export async function makeMany(admin: Admin, prefix: string, devices: number): Promise<string> {
  const nameOf = (index: number) => `${prefix}-${String(index).padStart(6, "0")}`;
  const step = 10_000;
  for (let first = 0; first < devices; first += step) {
    const lines = Array.from({ length: Math.min(step, devices - first) }, (_, index) => nameOf(first + index));
    const body = new TextEncoder().encode(`controllerId\n${lines.join("\n")}\n`);
    const answer = await admin.call<{ created: number }>("targets.csv", { method: "POST", headers: { "content-type": "text/csv" }, body });
    if (answer.body?.created !== lines.length) throw new Error(`devices were not made: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return nameOf(devices - 1);
}

export const adminOf = (login: Login): Admin => createAdmin(login);

/** The administrator of a stack that a file has started for itself. */
export const loginOf = (stack: { baseUrl: string; adminPassword: string }): Login => ({
  baseUrl: stack.baseUrl,
  user: "admin",
  password: stack.adminPassword,
});
