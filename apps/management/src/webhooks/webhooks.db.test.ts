import { pause } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { expect, test } from "vitest";
import { signed } from "./signature.ts";
import { hourMs, insert, path, type Received, sequencesOf, setUpWebhooks } from "./webhooks.fixture.ts";

const { rows, asController, call, receiver, replica, create, tell, log, dueNow, told, shown, secondTenant, atEnd } = setUpWebhooks();

test("events are sent signed, in the order of each subject, and logged; those of other types and of before are not", async () => {
  await tell("a", 1);
  const { url, received } = await receiver();
  const { id, secret } = await create({ url, types: ["io.update.target.changed.v1"] });
  replica();
  await asController(insert.replace("changed", "deleted"), [
    JSON.stringify({ tenant: "DEFAULT" }),
    JSON.stringify([{ subject: "targets/x", sequence: 1 }]),
  ]);
  await tell("a", 2, 3);
  await tell("b", 1);
  await tell("a", 4);
  await eventually(async () => expect(received).toHaveLength(4));
  expect([sequencesOf(received, "a"), sequencesOf(received, "b")]).toEqual([[2, 3, 4], [1]]);
  const [first] = received as [Received];
  const at = Number(first.headers["webhook-timestamp"]) * 1_000;
  expect(first.headers).toMatchObject(signed(secret, { id: first.id, at, body: first.body }));
  expect(first.headers["content-type"]).toContain("application/cloudevents+json");
  await eventually(async () => expect(await log(id)).toHaveLength(4));
  expect((await log(id))[0]).toMatchObject({ delivered: true, status: 204, attempt: 1, type: "io.update.target.changed.v1" });
  const stored = await rows("select secret from webhooks");
  expect(Buffer.from(stored[0]?.["secret"] as Buffer).toString("latin1")).not.toContain(secret.slice(6, 20));
  expect(JSON.stringify((await call("GET", path)).body)).not.toContain("whsec_");
});

test("what is not accepted is sent again with the same id, the events behind it wait, and no other webhook does", async () => {
  let failures = 2;
  const flaky = await receiver(({ sequence }) => (sequence === 2 && failures-- > 0 ? 500 : 204));
  const sound = await receiver();
  const { id } = await create({ url: flaky.url });
  await create({ name: "sound", url: sound.url });
  replica();
  await tell("f", 1, 2, 3);
  await eventually(async () => expect(sequencesOf(sound.received, "f")).toEqual([1, 2, 3]));
  await eventually(async () => {
    await dueNow();
    expect(sequencesOf(flaky.received, "f")).toEqual([1, 2, 3]);
  });
  const attempts = (await log(id)).toReversed().map((one: { attempt: number; status: number }) => [one.attempt, one.status]);
  expect(attempts).toEqual([
    [1, 204],
    [1, 500],
    [2, 500],
    [3, 204],
    [1, 204],
  ]);
  await eventually(async () => {
    const { body } = await call("GET", `${path}/${id}`);
    expect([body.enabled, body.failingSince, body.lastError]).toEqual([true, undefined, undefined]);
  });
});

test("two replicas send each event once; when one ends in the middle the other goes on, and nothing is lost", async () => {
  const { url, received } = await receiver(async () => {
    await pause(5);
    return 204;
  });
  await create({ url });
  const one = replica();
  replica();
  for (let n = 0; n < 60; n += 1) await tell(`r${n % 6}`, Math.floor(n / 6) + 1);
  await eventually(async () => expect(received.length).toBeGreaterThan(10));
  await one.stop();
  await eventually(async () => expect(new Set(received.map(({ id }) => id)).size).toBe(60), 20_000);
  for (let n = 0; n < 6; n += 1) expect([...new Set(sequencesOf(received, `r${n}`))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("a tenant's receivers that hang take no more than its places, and others are served meanwhile", async () => {
  const hanging = await receiver(() => undefined);
  for (let n = 0; n < 6; n += 1) await create({ name: `h${n}`, url: hanging.url });
  const { url, received } = await receiver();
  const { id } = await create({ name: "other", url });
  await secondTenant(id);
  // the first tenant could take all places but one, if it had more than its own
  replica({ slots: 5 });
  await tell("h", 1);
  const leased = async () => {
    const [row] = await rows("select count(*)::int as n from webhooks where leased_until > now() and tenant_id = 1");
    return row?.["n"];
  };
  await eventually(async () => expect(await leased()).toBe(4));
  for (const sequence of [1, 2, 3]) {
    await asController(insert.replace("(1,", "(2,"), [
      JSON.stringify({ tenant: "OTHER" }),
      JSON.stringify([{ subject: "targets/o", sequence, data: { controllerId: "o" } }]),
    ]);
    await eventually(async () => expect(sequencesOf(received, "o")).toContain(sequence));
  }
  expect(await leased()).toBe(4);
});

test("webhooks of a suspended tenant, which stay due, take no place of another tenant's", async () => {
  for (let n = 0; n < 4; n += 1) await create({ name: `s${n}`, url: "https://example.com/" });
  await rows("insert into tenants (tenant_id, name, status, default_set_type_id) values (2, 'SUSPENDED', 'suspended', 1)");
  atEnd(() => rows("delete from tenants where tenant_id = 2"));
  await rows("update webhooks set tenant_id = 2, due_at = now() - interval '1 day'");
  const { url, received } = await receiver();
  await create({ name: "served", url });
  replica({ slots: 1 });
  await tell("s", 1);
  await eventually(async () => expect(sequencesOf(received, "s")).toEqual([1]));
});

const attemptsOf = async (id: number) => Number((await rows("select attempts from webhooks where id = $1", [id]))[0]?.["attempts"]);

test("deliveries that fail are ended before the events are gone, with an event that says so; enabled again, nothing is missing", async () => {
  let [status, aheadMs] = [500, 0];
  const { url, received } = await receiver(() => status);
  const { id } = await create({ url });
  const before = (await told()).length;
  replica({ aheadMs: () => aheadMs });
  await tell("d", 1);
  await eventually(async () => expect((await shown(id)).failingSince).toBeTypeOf("number"));
  aheadMs = 41 * hourMs;
  const attempts = await attemptsOf(id);
  await eventually(async () => {
    await dueNow();
    expect(await attemptsOf(id)).toBeGreaterThan(attempts + 1);
  });
  expect(await shown(id)).toMatchObject({ enabled: true, failingSince: expect.any(Number) });
  // with two days of events, the end comes six hours before they are gone
  aheadMs = 43 * hourMs;
  await eventually(async () => {
    await dueNow();
    expect(await shown(id)).toMatchObject({ enabled: false, disabledReason: "failures" });
  });
  expect((await told()).slice(before)).toEqual([
    { type: "io.update.webhook.disabled.v1", data: expect.objectContaining({ webhookId: id, reason: "failures" }) },
  ]);
  status = 204;
  aheadMs = 47 * hourMs;
  await call("PUT", `${path}/${id}`, { body: { enabled: true } });
  await eventually(async () => expect(sequencesOf(received, "d")).toEqual([1]));
  expect((await log(id)).map(({ type }: { type: string }) => type)).not.toContain("io.update.webhook.events_skipped.v1");
});

test("a receiver that is gone disables a webhook at once", async () => {
  let status = 410;
  const { url, received } = await receiver(() => status);
  const { id } = await create({ url });
  replica();
  await tell("g", 1);
  await eventually(async () => expect(await shown(id)).toMatchObject({ enabled: false, disabledReason: "gone" }));
  expect((await told()).at(-1)).toMatchObject({ data: { webhookId: id, reason: "gone" } });
  status = 204;
  await call("PUT", `${path}/${id}`, { body: { enabled: true } });
  await eventually(async () => expect(sequencesOf(received, "g")).toEqual([1]));
});

test("what was not accepted while it was kept is passed over with an entry in the log and an event, and the failures go on", async () => {
  let [status, aheadMs] = [500, 0];
  const { url, received } = await receiver(() => status);
  const { id } = await create({ url });
  const { stop } = replica();
  await tell("k", 1);
  await eventually(async () => expect((await shown(id)).failingSince).toBeTypeOf("number"));
  const { failingSince } = await shown(id);
  // nobody has delivered for longer than events are kept
  await stop();
  aheadMs = 50 * hourMs;
  replica({ aheadMs: () => aheadMs });
  await eventually(async () => {
    await dueNow();
    expect(await shown(id)).toMatchObject({ enabled: false, disabledReason: "failures", failingSince });
  });
  const skipped = "io.update.webhook.events_skipped.v1";
  expect((await told()).slice(-2)).toEqual([
    {
      type: skipped,
      data: { webhookId: id, name: "w", reason: "expired", skippedFrom: expect.any(Number), skippedTo: expect.any(Number) },
    },
    { type: "io.update.webhook.disabled.v1", data: expect.objectContaining({ reason: "failures" }) },
  ]);
  const [entry] = (await log(id)).filter((one: { type: string; status?: number }) => one.type === skipped && one.status === undefined);
  expect(entry).toMatchObject({ delivered: false, error: expect.stringMatching(/^Events from \S+Z to \S+Z were not accepted/) });
  status = 204;
  await call("PUT", `${path}/${id}`, { body: { enabled: true } });
  // the receiver learns that it has missed something, and gets what comes then
  await tell("k", 2);
  await eventually(async () => expect(sequencesOf(received, "k")).toEqual([2]));
  expect(received.map(({ body }) => JSON.parse(body).type)).toContain(skipped);
});

test("a replica that stops in the middle of a delivery leaves how long a webhook has failed as it is", async () => {
  let hangs = false;
  let asked = 0;
  const { url } = await receiver(() => {
    asked += 1;
    return hangs ? undefined : 500;
  });
  const { id } = await create({ url });
  const one = replica();
  await tell("m", 1);
  await eventually(async () => expect((await shown(id)).failingSince).toBeTypeOf("number"));
  const { failingSince, lastError } = await shown(id);
  hangs = true;
  const before = asked;
  await eventually(async () => {
    await dueNow();
    expect(asked).toBeGreaterThan(before);
  });
  const attempts = await attemptsOf(id);
  await one.stop();
  expect(await shown(id)).toMatchObject({ failingSince, lastError });
  expect(await attemptsOf(id)).toBe(attempts);
});

test("a replay sends again what is behind a cursor, a test sends one event now", async () => {
  const { url, received } = await receiver();
  const { next } = (await call("GET", "/api/mgmt/v1/events")).body;
  const { id } = await create({ url });
  replica();
  await tell("p", 1, 2);
  await eventually(async () => expect(sequencesOf(received, "p")).toEqual([1, 2]));
  expect((await call("POST", `${path}/${id}/replay`, { body: { after: next } })).status).toBe(200);
  await eventually(async () => expect(sequencesOf(received, "p")).toEqual([1, 2, 1, 2]));
  expect(new Set(received.map((one) => one.id)).size).toBe(2);
  const tested = await call("POST", `${path}/${id}/test`);
  expect(tested.body).toMatchObject({ delivered: true, status: 204, type: "io.update.webhook.tested.v1" });
  expect((await call("POST", `${path}/${id}/replay`, { body: { after: "nonsense" } })).status).toBe(400);
});

test("addresses of our own network are refused, a tenant has at most 20 webhooks, and restricted callers none", async () => {
  for (const url of ["https://10.0.0.1/", "https://[::1]/", "http://example.com/", "ftp://example.com/", "nonsense"])
    expect([url, (await call("POST", path, { body: [{ name: "x", url }] })).status]).toEqual([url, 400]);
  const many = Array.from({ length: 20 }, (_, n) => ({ name: `n${n}`, url: "https://example.com/" }));
  expect((await call("POST", path, { body: many })).status).toBe(201);
  expect((await call("POST", path, { body: [{ name: "one more", url: "https://example.com/" }] })).status).toBe(403);
  expect((await call("GET", path, { scopes: { READ_TARGET: [1] } })).status).toBe(403);
});
