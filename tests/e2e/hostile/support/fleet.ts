import { randomBytes } from "node:crypto";
import { basic, uniqueName } from "@harrier/testkit";
import type { Tenant } from "./tenant.ts";

/** `fleet-000000` and so on. */
export const fleetId = (n: number): string => `fleet-${String(n).padStart(6, "0")}`;

/** Creates `n` targets as CSV, in one request; patterns have to be tried on their descriptions. */
export async function makeFleet({ boss }: Tenant, n: number): Promise<void> {
  const lines = Array.from({ length: n }, (_, i) => `${fleetId(i)},name ${i},${"abz ".repeat(40)}${i}`);
  const body = Buffer.from(["controllerId,name,description", ...lines].join("\r\n"));
  const { status, body: answer } = await boss.call("targets.csv", { method: "POST", headers: { "content-type": "text/csv" }, body });
  if (status !== 200) throw new Error(`targets.csv: ${status} ${JSON.stringify(answer)}`);
}

/** Makes the Authorization header of a user who may only read targets. */
export async function makeReader({ name, boss }: Tenant): Promise<string> {
  const user = { name: uniqueName("reader"), password: randomBytes(15).toString("base64url"), permissions: ["READ_TARGET"] };
  await boss.post("users", [user]);
  return basic(`${name}\\${user.name}`, user.password);
}
