import { deploymentView, forceType } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { artifactLinks } from "../artifacts/artifact-links.ts";
import { type DeviceFixture, deviceFixture, deviceNamed, seedActions, seedSet, seedTargets } from "../device.fixture.ts";
import { type DeploymentDeps, readDeployment } from "./deployment.ts";
import { createDeploymentDocuments } from "./documents.ts";

let fixture: DeviceFixture;
let deps: DeploymentDeps;

beforeAll(async () => {
  fixture = await deviceFixture();
  const links = { of: () => artifactLinks("classic") };
  deps = { ...fixture, documents: createDeploymentDocuments({ pool: fixture.db.pool }), links, now: Date.now };
  await seedSet(fixture, { id: 100, moduleType: "application", artifacts: ["z first.bin", "a second.bin"], metadata: { b: "2", a: "1" } });
  await seedSet(fixture, { id: 200, moduleType: "os" });
  await seedSet(fixture, { id: 300, modules: 0 });
  await seedTargets(fixture, [{ id: 1 }]);
  await seedActions(fixture, [
    { id: 11, targetId: 1 },
    { id: 12, targetId: 1, setId: 200, forceType: forceType.downloadonly },
    { id: 13, targetId: 1, setId: 300 },
    { id: 14, targetId: 1, setId: 999 },
  ]);
});
afterAll(() => fixture.close());

const read = (actionId: number, history = 0) =>
  readDeployment(deps, { device: deviceNamed("d1"), resource: "deployment", actionId, history });

test("the document is one round trip once the set is known", async () => {
  expect(await fixture.roundTrips.during(() => read(11))).toBe(2);
  expect(await fixture.roundTrips.during(() => read(11))).toBe(1);
  const view = await read(11);
  expect(deploymentView.parse(view)).toEqual(view);
  const artifact = (filename: string, size: number) => {
    const href = `http://ota.example/api/v1/default/download/controller/d1/softwaremodules/1100/filename/${encodeURIComponent(filename)}`;
    const links = {
      download: { href },
      md5sum: { href: `${href}.MD5SUM` },
      "download-http": { href },
      "md5sum-http": { href: `${href}.MD5SUM` },
    };
    return { filename, hashes: { sha1: "sha1", md5: "md5", sha256: "sha256" }, size, _links: links };
  };
  expect(view).toEqual({
    id: "11",
    deployment: {
      download: "forced",
      update: "forced",
      chunks: [
        {
          part: "bApp",
          version: "2.0",
          name: "module 1100",
          artifacts: [artifact("z first.bin", 1_000), artifact("a second.bin", 1_001)],
          metadata: [
            { key: "a", value: "1" },
            { key: "b", value: "2" },
          ],
        },
      ],
    },
  });
});

test("a module without artifacts and metadata, in a downloadonly action", async () => {
  expect((await read(12)).deployment).toEqual({
    download: "forced",
    update: "skip",
    chunks: [{ part: "os", version: "2.0", name: "module 1200", artifacts: [] }],
  });
});

test("a set without modules has no chunks, a deleted one is not found", async () => {
  expect((await read(13)).deployment.chunks).toEqual([]);
  await expect(read(14)).rejects.toMatchObject({ code: "entityNotFound" });
});

test("the history is included on request", async () => {
  expect(await read(11)).not.toHaveProperty("actionHistory");
  expect((await read(11, 5)).actionHistory).toEqual({ status: "RETRIEVED", messages: ["Assignment initiated by user 'admin'"] });
});

test("a new revision of the set is read again, and concurrent requests read it once", async () => {
  await read(11);
  await fixture.database
    .db("management")
    .pool.query(
      "update software_modules set version = '3.0' where id = 1100; update distribution_sets set revision = revision + 1 where id = 100",
    );
  const roundTrips = await fixture.roundTrips.during(async () => {
    const views = await Promise.all(Array.from({ length: 10 }, () => read(11)));
    for (const view of views) expect(view.deployment.chunks[0]?.version).toBe("3.0");
  });
  expect(roundTrips).toBe(2); // one for all retrievals, one for the document
});
