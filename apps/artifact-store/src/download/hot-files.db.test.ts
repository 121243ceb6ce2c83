import { createHash } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, form, type RunningService, startService } from "../service.suite.ts";
import { contentKey } from "../storage/storage.ts";
import { randomContent, tenantId } from "../testing.suite.ts";

const { bytes, sha256 } = randomContent(300_000);
const path = "/DEFAULT/controller/v1/open/softwaremodules/11/artifacts/fw.bin";
let service: RunningService;

beforeAll(async () => {
  service = await startService();
  const upload = form({ name: "file", filename: "fw.bin", body: bytes });
  expect((await service.call("POST", "/rest/v1/softwaremodules/11/artifacts", upload)).status).toBe(201);
});
afterAll(async () => service?.stop());

const get = (device = "open", headers: Record<string, string> = {}): Promise<Answer> =>
  service.call("GET", path.replace("open", device), { controllerId: device, headers });

it("what many devices fetch is sent from memory, to those that may have it, and counts in the data volume as ever", async () => {
  const file = join(service.bench.root, contentKey(tenantId, sha256));
  const sent = async () =>
    (await service.bench.sql("select coalesce(sum(bytes), 0)::int as bytes from artifact_store.data_traffic"))[0] as { bytes: number };
  // it is read into memory beside the second download: from then on nobody misses the file
  await eventually(async () => {
    expect((await get()).status).toBe(200);
    await rename(file, `${file}.away`);
    if ((await get()).status === 200) return;
    await rename(`${file}.away`, file);
    throw new Error("it is not in memory yet");
  });
  await service.traffic.beat();
  const before = await sent();
  const whole = await get("installed");
  expect([whole.status, createHash("sha256").update(whole.body).digest("hex")]).toEqual([200, sha256]);
  const range = await get("open", { range: "bytes=100-299999" });
  expect([range.status, range.headers["content-range"], range.body.equals(bytes.subarray(100))]).toEqual([
    206,
    "bytes 100-299999/300000",
    true,
  ]);
  await service.traffic.beat();
  expect((await sent()).bytes - before.bytes).toBe(599_900);
  expect((await get("canceled")).status).toBe(404);
  // what is not in one piece is read from the storage, which has lost the file
  expect((await get("open", { range: "bytes=0-9,200000-200009" })).status).toBe(500);
});
