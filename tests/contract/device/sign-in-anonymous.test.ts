import { routeTable as r } from "@harrier/contracts";
import { beforeAll, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call } from "../support/call.ts";
import { type Device, device } from "../support/device.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const allow = (value: boolean) => call(r.configs.put, "spec", { params: { key: "anonymous.download.enabled" }, body: { value } });
const denied = [401, ""] as const;
const ways = [r.device.artifact, r.device.artifactMd5, r.device.artifactDownload, r.device.artifactDownloadMd5];

let anybody: Device;
let file: { softwareModuleId: number; fileName: string };
let actionId: number;
let bytes: Buffer;
const become = (status: number) => eventually(async () => (await anybody.ask(r.device.artifact, file)).status === status, 10_000);

inOwnTenant();
beforeAll(async () => {
  const { set, moduleId, artifact } = await build.setWithArtifact();
  const { controllerId } = await build.target();
  actionId = await build.assign(set.id, controllerId);
  anybody = device(controllerId, { auth: null });
  file = { softwareModuleId: moduleId, fileName: artifact.providedFilename };
  bytes = artifact.bytes;
  await allow(true);
  await become(200);
});

it("device 13.94 on: downloads work without a header in both forms of addresses, whole and in parts", async () => {
  for (const route of ways) expect((await anybody.ask(route, file)).status, route.id).toBe(200);
  expect((await anybody.ask(r.device.artifact, file)).bytes.equals(bytes)).toBe(true);
  const part = await anybody.ask(r.device.artifactDownload, file, { headers: { range: "bytes=10-19" } });
  expect([part.status, part.bytes.equals(bytes.subarray(10, 20))]).toEqual([206, true]);
  expect((await anybody.ask(r.device.artifact, file, { method: "HEAD" })).status).toBe(200);
});

it("device 13.94 on: every other route still needs a credential", async () => {
  await anybody.refused(r.device.poll, {}, denied);
  await anybody.refused(r.device.getDeployment, { actionId }, denied);
  await anybody.refused(r.device.listArtifacts, { softwareModuleId: file.softwareModuleId }, denied);
  await anybody.refused(r.device.configData, {}, denied, { body: { data: { a: "b" } } });
  await device(unique("nobody"), { auth: null }).refused(r.device.poll, {}, denied);
});

it("device 13.94 on: a wrong credential counts as none, and files of other tenants are not found", async () => {
  for (const auth of ["TargetToken wrong", "GatewayToken wrong", ""])
    await device(anybody.controllerId, { auth }).refused(r.device.artifact, file, denied);
  await device(anybody.controllerId, { auth: null, tenant: "NOBODY" }).refused(r.device.artifact, file, denied);
});

it("device 6.1 on: only files that the device of the path may have now", async () => {
  const other = await build.target();
  for (const id of [other.controllerId, unique("nobody")])
    await device(id, { auth: null }).refused(r.device.artifact, file, [404, "repo.entityNotFound"]);
  const unassigned = await build.setWithArtifact();
  const its = { softwareModuleId: unassigned.moduleId, fileName: unassigned.artifact.providedFilename };
  await anybody.refused(r.device.artifact, its, [404, "repo.entityNotFound"]);
});

it("device 13.94 off: 401 within a moment", async () => {
  await allow(false);
  await become(401);
  for (const route of ways) await anybody.refused(route, file, denied);
  await allow(true);
  await become(200);
});
