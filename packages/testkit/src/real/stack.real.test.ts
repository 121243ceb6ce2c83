// The builders run against real servers together: two replicas of services that must agree, Kafka and S3.
import type { Stack } from "@harrier/stack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Admin, createAdmin, type RolloutView } from "../builders/admin.ts";
import { createDevice } from "../builders/device.ts";
import { eventually } from "../eventually.ts";
import { type Kafka, startKafka } from "./kafka.ts";
import { type Minio, startMinio } from "./minio.ts";
import { startTestStack, twoOfEach } from "./stack.ts";

let kafka: Kafka;
let minio: Minio;
let stack: Stack;
let admin: Admin;

beforeAll(async () => {
  [kafka, minio] = await Promise.all([startKafka(), startMinio()]);
  stack = await startTestStack({
    replicas: twoOfEach,
    kafkaBrokers: kafka.brokers,
    s3: { endpoint: minio.endpoint, accessKey: minio.accessKey, secretKey: minio.secretKey, bucket: "harrier" },
  });
  admin = createAdmin({ baseUrl: stack.baseUrl, password: stack.adminPassword });
  await eventually(() => admin.configure("authentication.targettoken.enabled", true));
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([kafka?.stop(), minio?.stop()]);
});

const deviceOf = ({ controllerId, securityToken }: { controllerId: string; securityToken: string }) =>
  createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });

test("an assigned set is downloaded, its hash checked, and its installation reported", async () => {
  const content = "the new firmware\n".repeat(1000);
  const { set, artifact } = await admin.createSetWithFile(content);
  const target = await admin.createTarget();
  const device = deviceOf(target);
  await eventually(() => device.poll());
  const action = await admin.assign(target.controllerId, set.id);
  const deployment = await device.deployment();
  expect(deployment?.id).toBe(String(action));
  const [file] = deployment?.deployment.chunks[0]?.artifacts ?? [];
  if (file === undefined) throw new Error("the deployment has no file");
  expect(file.hashes.sha256).toBe(artifact.hashes["sha256"]);
  expect((await device.download(file)).bytes.toString()).toBe(content);
  const part = await device.download(file, "bytes=4-6");
  expect([part.status, part.bytes.toString()]).toEqual([206, "new"]);
  expect((await device.report(action, "closed", "success")).status).toBe(200);
  expect(await device.deployment()).toBeUndefined();
});

test("a rollout goes through its groups while a controller is killed", async () => {
  const { set } = await admin.createSetWithFile();
  const targets = await admin.createTargets(6, "walk");
  const rollout = await admin.createRollout(set.id, { targetFilterQuery: "controllerId==walk-*", amountGroups: 2 });
  await admin.rolloutIs(rollout.id, "ready");
  await admin.startRollout(rollout.id);
  await admin.rolloutIs(rollout.id, "running");
  stack.kill("controller", 0);
  const open = new Set(targets.map(deviceOf));
  await eventually(async () => {
    for (const device of open) {
      const deployment = await device.deployment();
      if (deployment !== undefined && (await device.report(deployment.id, "closed", "success")).status === 200) open.delete(device);
    }
    if (open.size > 0) throw new Error(`${open.size} devices still wait`);
  }, 60_000);
  const finished: RolloutView = await admin.rolloutIs(rollout.id, "finished");
  expect(finished.totalTargetsPerStatus?.["finished"]).toBe(6);
});
