import type { ServerResponse } from "node:http";
import { eventually } from "@harrier/testkit";
import { expect, test } from "vitest";
import { insert, path, sequencesOf, setUpWebhooks } from "./webhooks.fixture.ts";

// What happens to a page of events that is under way when its webhook is changed, and to tests whose receivers hang.

const { rows, asController, call, receiver, hanging, replica, create, tell, log, told, shown, secondTenant } = setUpWebhooks();

const change = async (id: number, body: object) => expect((await call("PUT", `${path}/${id}`, { body })).status).toBe(200);
/** The pages that are under way have come to their end. */
const settled = async (id: number) => {
  const [row] = await rows("select owner from webhooks where id = $1", [id]);
  expect(row?.["owner"]).toBeNull();
};

test.each([204, 500, 410])(
  "a webhook that is disabled while its receiver hangs stays so, whatever the receiver answers: %d",
  async (status) => {
    const { url, waiting, release } = await hanging();
    const { id } = await create({ url });
    // with this poll nobody has noticed the change when the answer comes
    const { stop } = replica({ pollMs: 60_000 });
    await tell("a", 1);
    await eventually(() => expect(waiting).toHaveLength(1));
    const events = (await told()).length;
    await change(id, { enabled: false });
    release(status);
    await eventually(async () => expect(await log(id)).toMatchObject([{ status, delivered: status === 204 }]));
    await stop();
    expect(await shown(id)).toMatchObject({ enabled: false });
    expect((await shown(id)).disabledReason).toBeUndefined();
    expect(await told()).toHaveLength(events);
    expect(waiting).toHaveLength(0);
  },
);

test("a page ends when its webhook is disabled at another replica, with all places taken; enabled again, nothing is missing", async () => {
  const { url, waiting } = await hanging();
  const { id } = await create({ url });
  replica({ slots: 1 });
  await tell("b", 1, 2);
  await eventually(() => expect(waiting).toHaveLength(1));
  const [old] = waiting as [ServerResponse];
  await change(id, { enabled: false });
  await eventually(() => expect(old.destroyed).toBe(true), 5_000);
  const sound = await receiver();
  await change(id, { enabled: true, url: sound.url });
  await eventually(() => expect(sequencesOf(sound.received, "b")).toEqual([1, 2]));
});

test("what the old address answers says nothing of the new one, also when another replica delivers there already", async () => {
  const old = await hanging();
  const fresh = await hanging();
  const { id } = await create({ url: old.url });
  const first = replica({ pollMs: 60_000 });
  await tell("c", 1);
  await eventually(() => expect(old.waiting).toHaveLength(1));
  await change(id, { url: fresh.url });
  const second = replica({ pollMs: 60_000 });
  await eventually(() => expect(fresh.waiting).toHaveLength(1));
  old.release(410);
  await eventually(async () => expect(await log(id)).toMatchObject([{ status: 410 }]));
  expect(await shown(id)).toMatchObject({ enabled: true });
  expect((await shown(id)).lastError).toBeUndefined();
  fresh.release(204);
  await eventually(async () => expect((await log(id))[0]).toMatchObject({ status: 204 }));
  await Promise.all([first.stop(), second.stop()]);
  expect(await shown(id)).toMatchObject({ enabled: true, lastDeliveredAt: expect.any(Number) });
});

test("the replica that takes a changed webhook again ends its old page", async () => {
  const old = await hanging();
  const fresh = await receiver();
  const { id } = await create({ url: old.url });
  const { leases } = replica({ pollMs: 60_000 });
  await tell("d", 1);
  await eventually(() => expect(old.waiting).toHaveLength(1));
  const [res] = old.waiting as [ServerResponse];
  await change(id, { url: fresh.url });
  leases.wake();
  await eventually(() => expect(sequencesOf(fresh.received, "d")).toEqual([1]));
  await eventually(() => expect(res.destroyed).toBe(true), 5_000);
  await eventually(() => settled(id));
  expect(await shown(id)).toMatchObject({ enabled: true });
});

test("a new name or description does not end a page", async () => {
  const { url, waiting, release } = await hanging();
  const { id } = await create({ url });
  const { leases } = replica({ pollMs: 60_000 });
  await tell("e", 1);
  await eventually(() => expect(waiting).toHaveLength(1));
  await change(id, { name: "other", description: "x", url, enabled: true });
  leases.wake();
  release(204);
  await eventually(async () => expect(await shown(id)).toMatchObject({ lastDeliveredAt: expect.any(Number) }));
  expect(await log(id)).toHaveLength(1);
});

test("replays and changes in a row take no more than the places of a tenant, though each gives its lease up", async () => {
  const { url, waiting } = await hanging();
  const { next } = (await call("GET", "/api/mgmt/v1/events")).body;
  const ids: number[] = [];
  for (let n = 0; n < 6; n += 1) ids.push((await create({ name: `h${n}`, url })).id);
  const { url: sound, received } = await receiver();
  const { id: other } = await create({ name: "other", url: sound });
  await secondTenant(other);
  const { leases } = replica({ slots: 5 });
  await tell("f", 1);
  await eventually(() => expect(waiting).toHaveLength(4));
  for (let n = 0; n < 3; n += 1) {
    for (const id of ids) {
      await call("POST", `${path}/${id}/replay`, { body: { after: next } });
      leases.wake();
    }
  }
  await asController(insert.replace("(1,", "(2,"), [
    JSON.stringify({ tenant: "OTHER" }),
    JSON.stringify([{ subject: "targets/o", sequence: 1, data: { controllerId: "o" } }]),
  ]);
  await eventually(() => expect(sequencesOf(received, "o")).toContain(1), 5_000);
});

test("tests of receivers that hang take no more than the places of a tenant, and other tenants test meanwhile", async () => {
  const { url, waiting, release } = await hanging();
  const { url: sound } = await receiver();
  const { id } = await create({ url });
  const { id: other } = await create({ name: "other", url: sound });
  await secondTenant(other);
  const probe = (webhook: number, tenantId = 1) => call("POST", `${path}/${webhook}/test`, { tenantId });
  const statuses: number[] = [];
  const asked = Array.from({ length: 40 }, async () => void statuses.push((await probe(id)).status));
  await eventually(() => expect([waiting.length, statuses.length]).toEqual([2, 38]));
  expect(new Set(statuses)).toEqual(new Set([429]));
  expect((await probe(other, 2)).body).toMatchObject({ delivered: true });
  const refused = await probe(id);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  release(204);
  await Promise.all(asked);
  expect(statuses.slice(38)).toEqual([200, 200]);
  const again = probe(id);
  await eventually(() => expect(waiting).toHaveLength(1));
  release(204);
  expect((await again).body).toMatchObject({ delivered: true });
});
