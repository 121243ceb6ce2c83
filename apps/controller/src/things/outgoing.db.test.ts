import { randomBytes } from "node:crypto";
import { HarrierError } from "@harrier/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { artifactLinks } from "../artifacts/artifact-links.ts";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import type { DeploymentDocuments } from "../deployment/documents.ts";
import { withDefaults } from "../settings/defaults.ts";
import { type OutgoingDeps, readDeviceMessages } from "./outgoing.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.database.db("management").pool.query("insert into messaging (tenant_id, vhost, dmf) values (1, 'v', true)");
});
afterAll(() => fixture.close());

/** Reads messages as one replica of dmf does, with documents that are read like this. */
async function read(get: DeploymentDocuments["get"], confirmed = "") {
  const settings = { get: () => withDefaults([]) };
  const { db, secrets } = fixture;
  const links = { of: () => artifactLinks("classic") };
  const deps: OutgoingDeps = { db, settings, secrets, links, documents: { get }, now: Date.now, log: { warn: () => undefined } };
  const baseUrl = "http://ota.example";
  return readDeviceMessages(deps, { holder: "one", confirmed, baseUrl, dropped: [], connected: [1], full: [], resting: [] });
}

test("a set that cannot be read for a moment leaves out no message, and one that is gone stops none", async () => {
  const empty: DeploymentDocuments["get"] = async () => [];
  const { position } = await read(empty);
  const controllerIds = [1, 2].map((n) => `${n}-${randomBytes(4).toString("hex")}`);
  const targets = controllerIds.map((controllerId) => ({ controllerId, name: controllerId, address: "amqp://v/replies" }));
  await fixture.targets.createTargets({ targets }, contextOf());
  const [gone = "", kept = ""] = controllerIds;
  for (const [id, set] of [
    [gone, 100],
    [kept, 101],
  ] as const)
    await fixture.actions.assignSet({ set: reservedSet(set), items: [itemOf(id)], initiator: "admin" }, contextOf());
  await read(empty, position);
  await expect(read(() => Promise.reject(new Error("the connection has ended")))).rejects.toThrow("has ended");
  const told = async () => {
    const { messages = [] } = await read(async ({ setId }) => {
      if (setId === 100) throw new HarrierError("entityNotFound");
      return [];
    });
    return messages.flatMap(({ topic, controllerId }) => (topic === "DOWNLOAD_AND_INSTALL" ? [controllerId] : []));
  };
  expect(await told()).toEqual([kept]);
});
