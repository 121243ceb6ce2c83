import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, deviceNamed, seedActions, seedSet, seedTargets } from "../device.fixture.ts";
import { artifactLinks } from "./artifact-links.ts";
import { listArtifacts } from "./artifacts.ts";

let fixture: DeviceFixture;
const moduleId = 1_100;

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100, artifacts: ["b.bin", "a.bin"] });
  await seedSet(fixture, { id: 200 });
  await seedTargets(fixture, [
    { id: 1 },
    { id: 2 },
    { id: 3, installedSetId: 100, installedActionId: 31 },
    ...[4, 5, 6].map((id) => ({ id })),
  ]);
  await seedActions(fixture, [
    { id: 11, targetId: 1 },
    { id: 31, targetId: 3, status: actionStatus.FINISHED, active: false },
    { id: 32, targetId: 3, setId: 200 },
    { id: 41, targetId: 4, status: actionStatus.CANCELING },
    { id: 51, targetId: 5, status: actionStatus.WAIT_FOR_CONFIRMATION },
    { id: 61, targetId: 6, status: actionStatus.ERROR, active: false },
  ]);
});
afterAll(() => fixture.close());

const list = (n: number, module = moduleId) =>
  listArtifacts({ db: fixture.db, links: { of: () => artifactLinks("classic") } }, deviceNamed(`d${n}`), module);
const notAssigned = (n: number) => ({
  code: "entityNotFound",
  message: `No assignment found for SoftwareModule with id {${moduleId}} to Target with id {d${n}}.`,
});

test("artifacts of open and installed actions are listed, in the order of their upload, in one round trip", async () => {
  expect(await fixture.roundTrips.during(() => list(1))).toBe(1);
  for (const n of [1, 3, 5]) expect((await list(n)).map((artifact) => artifact.filename)).toEqual(["b.bin", "a.bin"]);
  expect((await list(1))[0]?._links?.download?.href).toContain(`/softwaremodules/${moduleId}/filename/b.bin`);
  expect(await list(3, 1_200)).toEqual([]);
});

test("artifacts of a cancelled or failed action, or of another target's, are not", async () => {
  for (const n of [2, 4, 6]) await expect(list(n)).rejects.toMatchObject(notAssigned(n));
});

test("an unknown target and an unknown module get different errors", async () => {
  await expect(list(99)).rejects.toMatchObject({ message: "Target with given identifier {d99} does not exist." });
  await expect(list(1, 5)).rejects.toMatchObject({ message: "SoftwareModule with given identifier {5} does not exist." });
});
