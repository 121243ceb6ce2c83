import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventPage } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { createDevice, eventually, startKafka, startTestStack, uniqueName } from "@harrier/testkit";
import { afterAll, expect, it } from "vitest";
import { followEvents } from "./support/events.ts";
import { type Cluster, postgresPrograms, startCluster } from "./support/postgres-cluster.ts";
import { webhookReceiver } from "./support/receivers.ts";
import { adminOf, allowTargetTokens } from "./support/replicas.ts";

// docs/operations.md, "Backup": a physical backup, restored while the folder of files has gone on: nothing of it was restored.
const dataDir = mkdtempSync(join(tmpdir(), "harrier-backup-"));
const open: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const one of open.toReversed()) await one.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
const keep = <One extends { stop(): unknown }>(one: One): One => {
  open.push(one);
  return one;
};

it("files that were deleted after a physical backup are there when it is restored, and Kafka, webhooks and the cursor go on", {
  timeout: 900_000,
}, async () => {
  const kafka = keep(await startKafka());
  const receiver = keep(await webhookReceiver());
  const start = async (cluster: Cluster): Promise<Stack> =>
    keep(
      await startTestStack({
        dataDir,
        database: cluster.url,
        kafkaBrokers: kafka.brokers,
        artifactKeepDays: 30,
        management: { HARRIER_EGRESS_ALLOW: "*@127.0.0.0/8" },
      }),
    );
  const programs = await postgresPrograms();
  const old = keep(await startCluster(programs));
  const before = await start(old);
  await allowTargetTokens(before);
  const events = keep(await followEvents(kafka.brokers));
  const api = adminOf(before);
  await api.post("webhooks", [{ name: "restored", url: receiver.url }]);
  const content = uniqueName("the firmware of then");
  const { set, module } = await api.createSetWithFile(content);
  const { controllerId, securityToken } = await api.createTarget();
  const actionId = await api.assign(controllerId, set.id);
  const heard = (id: string) =>
    eventually(() => {
      const subject = `targets/${id}`;
      expect([events.seen, receiver.got].map((all) => all.some((event) => event.subject === subject))).toEqual([true, true]);
    }, 60_000);
  const early = (await api.createTargets(1, uniqueName("early")))[0]?.controllerId ?? "";
  await heard(early);
  const cursor = (await api.get<EventPage>("events?limit=500")).next;

  const backup = old.backUp();
  const late = (await api.createTargets(1, uniqueName("late")))[0]?.controllerId ?? "";
  await heard(late);
  const path = `softwaremodules/${module.id}/artifacts`;
  const [artifact] = await api.get<{ id: number; hashes: { sha256: string } }[]>(path);
  await api.call(`distributionsets/${set.id}`, { method: "DELETE" });
  await api.call(`softwaremodules/${module.id}`, { method: "DELETE" });
  expect((await api.call(`${path}/${artifact?.id}/download`)).status).toBeGreaterThan(399);
  // what was released is marked in the database, and its file waits for the days of HARRIER_ARTIFACT_KEEP_DAYS
  await eventually(() => {
    const marked = old.run("psql", "-d", "harrier", "-Atc", "select count(*) from artifact_store.blobs where state = 'deleting'");
    expect(Number(marked)).toBeGreaterThan(0);
  });
  const files = readdirSync(join(dataDir, "artifacts"), { recursive: true }).map(String);
  expect(files.filter((name) => name.endsWith(artifact?.hashes.sha256 ?? "?"))).toHaveLength(1);
  await before.stop();
  old.stop();
  open.splice(open.indexOf(before), 1);
  open.splice(open.indexOf(old), 1);

  const after = await start(keep(await startCluster(programs, backup)));
  const restored = adminOf(after);
  expect((await restored.call(`targets/${late}`)).status).toBe(404);
  expect(await restored.get(`targets/${early}`)).toMatchObject({ controllerId: early });
  // a device gets the file that had been deleted meanwhile, and ends its update
  const device = createDevice({ baseUrl: after.baseUrl, controllerId, token: securityToken });
  const deployment = await eventually(async () => {
    const found = await device.deployment();
    expect(found?.id).toBe(String(actionId));
    return found;
  });
  const file = deployment?.deployment.chunks[0]?.artifacts[0];
  expect(file && (await device.download(file)).bytes.toString()).toBe(content);
  expect((await device.report(actionId, "closed", "success")).status).toBe(200);
  // whoever reads events goes on
  const next = (await restored.createTargets(1, uniqueName("next")))[0]?.controllerId ?? "";
  await heard(next);
  const page = await restored.get<EventPage>(`events?after=${encodeURIComponent(cursor)}&limit=500`);
  expect(page.content.map(({ subject }) => subject)).toContain(`targets/${next}`);
  expect((await restored.call("audit/verify")).status).toBe(200);
});
