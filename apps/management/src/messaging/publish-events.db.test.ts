import { type LeaseOptions, pause } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createChanges } from "../events/changes.ts";
import { encodeCursor } from "../events/cursor.ts";
import { cursorOfNow } from "../events/read-events.ts";
import { startReplica } from "../testing/leases.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { createPublications } from "./publish-events.ts";
import type { StreamMessage, StreamPublisher } from "./stream-publisher.ts";

let fixture: Fixture;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  fixture = await managementFixture();
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await fixture.rows("delete from messaging");
});
afterAll(() => fixture.close());

/** A replica that publishes until the test ends; the broker is the test's. */
function replica({
  publish,
  now = Date.now,
  ...options
}: { publish: StreamPublisher["publish"]; now?: () => number } & Partial<LeaseOptions>) {
  const changes = createChanges({ db: fixture.db.pool, onFirst: () => {} });
  const log = { warn: () => {} };
  const publisher = { publish, stop: async () => {} };
  const leases = createPublications(
    { db: fixture.db, publisher, changes, eventDays: 2, now: Date.now, fault: () => undefined, log },
    { pollMs: 50, leaseSeconds: 5, slots: 4, log, ...options },
  );
  const stop = startReplica(changes, leases);
  ends.push(stop);
  return { stop };
}

const enable = async (tenantId = 1) => {
  const position = encodeCursor(await cursorOfNow(fixture.db.pool, Date.now));
  const insert = "insert into messaging (tenant_id, vhost, sie, sie_position) values ($1, $2, true, $3)";
  await fixture.rows(insert, [tenantId, `vhost-${tenantId}`, position]);
};
const tell = (target: string, sequences: readonly number[], tenantId = 1) => {
  const items = sequences.map((sequence) => ({ subject: `targets/${target}`, sequence, data: { controllerId: target } }));
  return fixture.asController(
    "insert into outbox (tenant_id, topic, type, common, items) values ($1, 'target-events', 'io.update.target.changed.v1', $2, $3)",
    [tenantId, JSON.stringify({ tenant: `T${tenantId}` }), JSON.stringify(items)],
  );
};
interface Published {
  vhost: string;
  target: string;
  sequence: number;
  id: string;
}
const readAll = (vhost: string, messages: readonly StreamMessage[]): Published[] =>
  messages.map(({ content, options }) => {
    const { id, sequence, data } = JSON.parse(content.toString());
    expect(options).toMatchObject({ messageId: id, headers: { sequence }, persistent: true });
    return { vhost, target: data.controllerId, sequence: Number(sequence), id };
  });
const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

test("events are published from the enabling on, in their order, by one of two replicas", async () => {
  await tell("before", [1]);
  await enable();
  const published: Published[] = [];
  const publish: StreamPublisher["publish"] = async (vhost, messages) => void published.push(...readAll(vhost, messages));
  replica({ publish });
  replica({ publish });
  await tell("a", numbers(1_200));
  await tell("b", [1]);
  await eventually(async () => expect(published).toHaveLength(1_201));
  expect(published.filter(({ target }) => target === "a").map(({ sequence }) => sequence)).toEqual(numbers(1_200));
  await tell("b", [2]);
  await eventually(async () => expect(published.at(-1)).toMatchObject({ target: "b", sequence: 2 }));
});

test("what the broker does not take is published again from the same place, another tenant waits for nothing, and the status knows since when", async () => {
  await fixture.rows("insert into tenants (tenant_id, name, default_set_type_id) values (7, 'T7', 13) on conflict do nothing");
  await enable();
  await enable(7);
  const published: Published[] = [];
  let broken = true;
  replica({
    publish: async (vhost, messages) => {
      if (vhost === "vhost-1" && broken) throw new Error("the broker does not take it");
      published.push(...readAll(vhost, messages));
    },
  });
  await tell("a", [1, 2]);
  await tell("c", [1], 7);
  await eventually(async () => expect(published).toMatchObject([{ vhost: "vhost-7", target: "c" }]));
  const failing = () => fixture.rows("select tenant_id from messaging where sie_failing_since is not null and sie_attempts > 0");
  await eventually(async () => expect(await failing()).toEqual([{ tenant_id: 1 }]));
  broken = false;
  await fixture.rows("update messaging set sie_due_at = now()");
  await eventually(async () =>
    expect(published.slice(1)).toMatchObject([
      { target: "a", sequence: 1 },
      { target: "a", sequence: 2 },
    ]),
  );
  await eventually(async () => expect(await failing()).toEqual([]));
});

test("what a replica had under way when it ended comes again, with the same ids", async () => {
  await enable();
  const first: Published[] = [];
  // it has published, and ends before it could say so
  const ended = replica({
    leaseSeconds: 1,
    publish: (vhost, messages) => {
      first.push(...readAll(vhost, messages));
      return new Promise(() => undefined);
    },
  });
  await tell("a", [1, 2, 3]);
  await eventually(async () => expect(first).toHaveLength(3));
  void ended.stop();
  const second: Published[] = [];
  replica({ publish: async (vhost, messages) => void second.push(...readAll(vhost, messages)) });
  await eventually(async () => expect(second).toEqual(first), 10_000);
});

test("a tenant that is suspended waits, and gets its events when it is active again", async () => {
  await enable();
  await fixture.rows("update tenants set status = 'suspended' where tenant_id = 1");
  const published: Published[] = [];
  replica({ publish: async (vhost, messages) => void published.push(...readAll(vhost, messages)) });
  await tell("a", [1]);
  await pause(300, new AbortController().signal);
  expect(published).toEqual([]);
  await fixture.rows("update tenants set status = 'active' where tenant_id = 1");
  await eventually(async () => expect(published).toHaveLength(1));
});

test("a stream whose events are gone goes on with what happens now", async () => {
  await enable();
  const old = encodeCursor({ ...(await cursorOfNow(fixture.db.pool, Date.now)), at: Date.now() - 3 * 24 * 60 * 60_000 });
  await tell("gone", [1]);
  await fixture.rows("update messaging set sie_position = $1", [old]);
  const published: Published[] = [];
  replica({ publish: async (vhost, messages) => void published.push(...readAll(vhost, messages)) });
  await eventually(async () => expect(await fixture.rows("select from messaging where sie_position <> $1", [old])).toHaveLength(1));
  await tell("a", [2]);
  await eventually(async () => expect(published).toMatchObject([{ target: "a", sequence: 2 }]));
});
