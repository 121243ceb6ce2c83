import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createEgress, parseAllowed } from "@harrier/egress";
import { type LeaseOptions, pause } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createChanges } from "../events/changes.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { createDeliveries } from "./deliver.ts";
import { signed } from "./signature.ts";

const path = "/api/mgmt/v1/webhooks";
let fixture: Fixture;
let http: HttpFixture;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await fixture.rows("delete from webhooks");
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

interface Received {
  id: string;
  subject: string;
  sequence: number;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A receiver that answers as it is told; what it has accepted is in `received`. */
async function receiver(answer: (event: Received, res: ServerResponse) => unknown = () => 204) {
  const received: Received[] = [];
  const server: Server = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const { id, subject, sequence } = JSON.parse(body) as Received;
    const event = { id, subject, sequence: Number(sequence), headers: req.headers, body };
    const status = await answer(event, res);
    if (typeof status !== "number") return;
    if (status < 300) received.push(event);
    res.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

/** A replica that delivers, until the test ends. */
function replica(options: Partial<LeaseOptions> = {}) {
  const changes = createChanges({ db: fixture.db.pool, onFirst: () => {} });
  const egress = createEgress({ allowed: parseAllowed("*@127.0.0.0/8") });
  const log = { warn: () => {} };
  const leases = createDeliveries(
    { db: fixture.db, secrets: fixture.secrets, egress, changes, eventDays: 2, now: Date.now },
    { pollMs: 50, leaseSeconds: 5, slots: 4, log, ...options },
  );
  const reading = new AbortController();
  const done = (async () => {
    while (!reading.signal.aborted) {
      await changes.read();
      await pause(20, reading.signal);
    }
  })();
  leases.start();
  const stop = async () => {
    reading.abort();
    await leases.stop();
    await done;
  };
  ends.push(stop);
  return { stop, leases };
}

async function create(members: object): Promise<{ id: number; secret: string }> {
  const { status, body } = await http.call("POST", path, { body: [{ name: "w", ...members }] });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body[0];
}

const insert =
  "insert into outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 'io.update.target.changed.v1', $1, $2)";
/** Tells events of a target, with these sequences. */
const tell = (target: string, ...sequences: number[]) => {
  const items = sequences.map((sequence) => ({ subject: `targets/${target}`, sequence, data: { controllerId: target } }));
  return fixture.asController(insert, [JSON.stringify({ tenant: "DEFAULT" }), JSON.stringify(items)]);
};
const sequencesOf = (events: readonly Received[], target: string) =>
  events.filter(({ subject }) => subject === `targets/${target}`).map(({ sequence }) => sequence);
const log = async (id: number) => (await http.call("GET", `${path}/${id}/deliveries`)).body;
const dueNow = () => fixture.rows("update webhooks set due_at = now()");

test("events are sent signed, in the order of each subject, and logged; those of other types and of before are not", async () => {
  await tell("a", 1);
  const { url, received } = await receiver();
  const { id, secret } = await create({ url, types: ["io.update.target.changed.v1"] });
  replica();
  await fixture.asController(insert.replace("changed", "deleted"), [
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
  const stored = await fixture.rows("select secret from webhooks");
  expect(Buffer.from(stored[0]?.["secret"] as Buffer).toString("latin1")).not.toContain(secret.slice(6, 20));
  expect(JSON.stringify((await http.call("GET", path)).body)).not.toContain("whsec_");
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
    const { body } = await http.call("GET", `${path}/${id}`);
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
  replica({ slots: 16 });
  await tell("h", 1);
  await eventually(async () => {
    const rows = await fixture.rows("select count(*)::int as n from webhooks where leased_until > now()");
    expect(rows[0]?.["n"]).toBe(4);
  });
});

test("webhooks of a suspended tenant, which stay due, take no place of another tenant's", async () => {
  for (let n = 0; n < 4; n += 1) await create({ name: `s${n}`, url: "https://example.com/" });
  await fixture.rows("insert into tenants (tenant_id, name, status, default_set_type_id) values (2, 'SUSPENDED', 'suspended', 1)");
  ends.push(() => fixture.rows("delete from tenants where tenant_id = 2"));
  await fixture.rows("update webhooks set tenant_id = 2, due_at = now() - interval '1 day'");
  const { url, received } = await receiver();
  await create({ name: "served", url });
  replica({ slots: 1 });
  await tell("s", 1);
  await eventually(async () => expect(sequencesOf(received, "s")).toEqual([1]));
});

test("deliveries that fail for days, and a receiver that is gone, disable a webhook with an event; a person enables it again", async () => {
  let status = 500;
  const { url, received } = await receiver(() => status);
  const { id } = await create({ url });
  const disabled = () => fixture.rows("select items -> 0 -> 'data' as data from outbox where topic = 'webhook-events' order by id");
  const { stop } = replica();
  await tell("d", 1);
  await eventually(async () => expect((await http.call("GET", `${path}/${id}`)).body.failingSince).toBeTypeOf("number"));
  await fixture.rows("update webhooks set failing_since = now() - interval '4 days', due_at = now()");
  await eventually(async () => {
    await dueNow();
    expect((await http.call("GET", `${path}/${id}`)).body).toMatchObject({ enabled: false, disabledReason: "failures" });
  });
  expect(await disabled()).toEqual([{ data: expect.objectContaining({ webhookId: id, reason: "failures" }) }]);
  status = 410;
  expect((await http.call("PUT", `${path}/${id}`, { body: { enabled: true } })).body).toMatchObject({ enabled: true });
  await eventually(async () => {
    await dueNow();
    expect((await http.call("GET", `${path}/${id}`)).body).toMatchObject({ enabled: false, disabledReason: "gone" });
  });
  expect(await disabled()).toHaveLength(2);
  status = 204;
  await http.call("PUT", `${path}/${id}`, { body: { enabled: true } });
  await eventually(async () => expect(sequencesOf(received, "d")).toEqual([1]));
  await stop();
});

test("a replay sends again what is behind a cursor, a test sends one event now", async () => {
  const { url, received } = await receiver();
  const { next } = (await http.call("GET", "/api/mgmt/v1/events")).body;
  const { id } = await create({ url });
  replica();
  await tell("p", 1, 2);
  await eventually(async () => expect(sequencesOf(received, "p")).toEqual([1, 2]));
  expect((await http.call("POST", `${path}/${id}/replay`, { body: { after: next } })).status).toBe(200);
  await eventually(async () => expect(sequencesOf(received, "p")).toEqual([1, 2, 1, 2]));
  expect(new Set(received.map((one) => one.id)).size).toBe(2);
  const tested = await http.call("POST", `${path}/${id}/test`);
  expect(tested.body).toMatchObject({ delivered: true, status: 204, type: "io.update.webhook.tested.v1" });
  expect((await http.call("POST", `${path}/${id}/replay`, { body: { after: "nonsense" } })).status).toBe(400);
});

test("addresses of our own network are refused, a tenant has at most 20 webhooks, and restricted callers none", async () => {
  for (const url of ["https://10.0.0.1/", "https://[::1]/", "http://example.com/", "ftp://example.com/", "nonsense"])
    expect([url, (await http.call("POST", path, { body: [{ name: "x", url }] })).status]).toEqual([url, 400]);
  const many = Array.from({ length: 20 }, (_, n) => ({ name: `n${n}`, url: "https://example.com/" }));
  expect((await http.call("POST", path, { body: many })).status).toBe(201);
  expect((await http.call("POST", path, { body: [{ name: "one more", url: "https://example.com/" }] })).status).toBe(403);
  expect((await http.call("GET", path, { scopes: { READ_TARGET: [1] } })).status).toBe(403);
});
