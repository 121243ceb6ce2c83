import { randomBytes } from "node:crypto";
import { type Admin, createDevice, type DeploymentArtifact, type Device, eventually } from "@harrier/testkit";

export interface KnownDevice {
  controllerId: string;
  token: string;
  actionId: number;
  content: Buffer;
}

/** Makes a device with an update, of either tenant. */
export async function given(admin: Admin): Promise<KnownDevice> {
  const { controllerId, securityToken } = await admin.createTarget();
  const content = randomBytes(500_000);
  const { set } = await admin.createSetWithFile(content, "image ä.bin");
  const actionId = await admin.assign(controllerId, set.id);
  return { controllerId, token: securityToken, actionId, content };
}

export const deviceAt = (baseUrl: string, { controllerId, token }: KnownDevice, tenant = "DEFAULT"): Device =>
  createDevice({ baseUrl, tenant, controllerId, token });

/** The file of the device's update. A setting of links takes effect within a second, and so does the sign-in in a new tenant. */
export async function fileOf(device: Device, links: "hawkbit" | "classic" = "hawkbit"): Promise<DeploymentArtifact> {
  return eventually(async () => {
    const update = await device.deployment();
    const [file] = update?.deployment.chunks.flatMap(({ artifacts }) => artifacts) ?? [];
    if (file === undefined) throw new Error("there is no file");
    const isClassic = file._links["download"]?.href.includes("/api/v1/") === true;
    if (isClassic !== (links === "classic")) throw new Error(`the links are not ${links} yet`);
    return file;
  });
}
