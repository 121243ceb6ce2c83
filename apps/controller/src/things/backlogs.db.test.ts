import type { PoolClient } from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { artifactLinks } from "../artifacts/artifact-links.ts";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import type { ChunkTemplate } from "../deployment/documents.ts";
import { withDefaults } from "../settings/defaults.ts";
import { messagesSentUntil, type Position } from "./outgoing.sql.ts";
import { type OutgoingDeps, readDeviceMessages } from "./outgoing.ts";

const tenantIds = Array.from({ length: 12 }, (_, n) => n + 1);
/** Every set makes a message of one and a half megabytes. */
const metadata = [{ key: "k", value: "x".repeat(1_500_000) }];
const chunks = [{ moduleId: 1, part: "os", typeKey: "os", name: "n", version: "1", metadata, artifacts: [] }];

let fixture: CommandsFixture;
let client: PoolClient;
beforeAll(async () => {
  fixture = await commandsFixture();
  const management = fixture.database.db("management").pool;
  await management.query(
    "insert into tenants (tenant_id, name, default_set_type_id) select n, 'tenant ' || n, 1 from generate_series(2, $1::int) n",
    [tenantIds.length],
  );
  await management.query("insert into messaging (tenant_id, vhost, dmf) select tenant_id, 'v' || tenant_id, true from tenants");
  client = await fixture.db.pool.connect();
  // the position begins, and tenants that are new to it are told all again
  await readAll();
});
afterAll(async () => {
  client.release();
  await fixture.close();
});
afterEach(async () => {
  expect(await readAll()).toMatchObject({ position: { backlogs: [] } });
});

/** Reads messages as one replica of dmf does. */
function read(confirmed: string, dropped: number[] = []) {
  const settings = { get: () => withDefaults([]) };
  const { db, secrets } = fixture;
  const links = { of: () => artifactLinks("classic") };
  const documents = { get: async () => chunks as readonly ChunkTemplate[] };
  const deps: OutgoingDeps = { db, settings, secrets, links, documents, now: Date.now, log: { warn: () => undefined } };
  const ask = { holder: "one", confirmed, baseUrl: "http://ota.example", dropped, connected: tenantIds, full: [], resting: [] };
  return readDeviceMessages(deps, ask);
}

type Answer = Awaited<ReturnType<typeof read>>;
const said = ({ messages = [] }: Answer) => messages.map(({ tenantId, controllerId }) => `${tenantId}/${controllerId}`);

/** Reads and confirms pages until there is nothing more; `retried` says of how many the answer is lost at first. */
async function readAll({ retried = () => false, first = "" }: { retried?: () => boolean; first?: string } = {}) {
  const pages: string[][] = [];
  for (let confirmed = first; ; ) {
    let answer = await read(confirmed);
    while (retried()) answer = await read("");
    pages.push(said(answer));
    confirmed = answer.position ?? "";
    if (!answer.more && said(answer).length === 0) {
      await read(confirmed);
      return { pages, all: pages.flat(), position: JSON.parse(confirmed) as Position };
    }
  }
}

/** Has things of a tenant that are gone told so, `each` in a row of the outbox. */
async function tell(tenantId: number, ids: readonly (number | string)[], { each = 200, by = client } = {}): Promise<void> {
  const things = ids.map((id) => [String(id), `amqp://v${tenantId}/replies`]);
  await by.query(
    `insert into outbox (tenant_id, topic, type, common, items)
     select $1, 'target-events', 'feed.things-deleted', json_build_object('things', json_agg(thing order by n)), '[]'
       from json_array_elements($2::json) with ordinality t (thing, n) group by (n - 1) / $3::int order by (n - 1) / $3::int`,
    [tenantId, JSON.stringify(things), each],
  );
}

const numbers = (n: number, from = 0) => Array.from({ length: n }, (_, i) => i + from);
const of = (tenantId: number, all: readonly string[]) => all.filter((one) => one.startsWith(`${tenantId}/`));
const expected = (tenantId: number, ids: readonly (number | string)[]) => ids.map((id) => `${tenantId}/${id}`);

test("a tenant whose things are told much lets no other wait: of the others the first page has all, and of its own nothing is left out or told twice", async () => {
  await tell(1, numbers(3_000));
  await tell(2, ["a", "b"]);
  await tell(1, numbers(200, 3_000), { each: 1 });
  await tell(3, ["c"]);
  const { pages, all } = await readAll();
  const begin = pages.slice(0, 2).flat();
  expect(of(2, begin)).toEqual(["2/a", "2/b"]);
  expect(of(3, begin)).toEqual(["3/c"]);
  expect(of(1, all)).toEqual(expected(1, numbers(3_200)));
  expect(all).toHaveLength(3_203);
});

test("what comes while a tenant has a backlog is told after it, and others are told with the next page", async () => {
  await tell(1, numbers(1_000));
  const first = await read("");
  const second = await read(first.position ?? "");
  await tell(1, ["last"]);
  await tell(4, ["at once"]);
  const third = await read(second.position ?? "");
  expect(of(4, said(third))).toEqual(["4/at once"]);
  const { all } = await readAll({ first: third.position ?? "" });
  expect(
    [first, second, third]
      .flatMap(said)
      .concat(all)
      .filter((one) => one.startsWith("1/")),
  ).toEqual(expected(1, [...numbers(1_000), "last"]));
});

test("tenants with a backlog have the same part of each page, also if there are more than one call reads", async () => {
  for (const tenantId of tenantIds) await tell(tenantId, numbers(400));
  const { pages, all } = await readAll();
  for (const tenantId of tenantIds) expect(of(tenantId, all)).toEqual(expected(tenantId, numbers(400)));
  const half = pages.slice(0, Math.ceil(pages.length / 2)).flat();
  const counts = tenantIds.map((tenantId) => of(tenantId, half).length);
  expect(Math.min(...counts)).toBeGreaterThan(60);
});

test("a tenant whose messages are large has two megabytes of a page, and its others after those of other tenants", async () => {
  const ids = numbers(6).map((n) => `large ${n}`);
  const targets = ids.map((controllerId) => ({ controllerId, name: controllerId, address: "amqp://v1/replies" }));
  await fixture.targets.createTargets({ targets }, contextOf());
  await fixture.actions.assignSet({ set: reservedSet(100), items: ids.map((id) => itemOf(id)), initiator: "admin" }, contextOf());
  await tell(5, ["small"]);
  const first = await read("");
  const bodies = (answer: Answer) => (answer.messages ?? []).filter(({ topic }) => topic === "DOWNLOAD_AND_INSTALL");
  expect(bodies(first).map(({ controllerId }) => controllerId)).toEqual(ids.slice(0, 2));
  expect(of(5, said(first))).toEqual(["5/small"]);
  let told = bodies(first);
  for (let answer = first; answer.more === true; ) {
    answer = await read(answer.position ?? "");
    told = [...told, ...bodies(answer)];
  }
  expect(told.map(({ controllerId }) => controllerId)).toEqual(ids);
});

test("what a tenant with a backlog has missed is told again since then, though others are further", async () => {
  await tell(1, numbers(300));
  const first = await read("");
  const second = await read(first.position ?? "");
  const { backlogs = [] } = JSON.parse(first.position ?? "") as Position;
  const [{ seen, tenantId } = { seen: "", tenantId: 0 }] = backlogs;
  expect(tenantId).toBe(1);
  await read(second.position ?? "", [1]);
  const { rows } = await client.query<{ position: Position }>("select position from device_messages_cursor");
  expect(rows[0]?.position.missed).toEqual({});
  // its virtual host was connected with that call, so that its things were told again at once
  const { all } = await readAll();
  expect(new Set(of(1, all).filter((one) => !one.includes("large")))).toEqual(new Set(expected(1, numbers(300))));
  expect(JSON.parse(second.position ?? "")).toMatchObject({ backlogsFrom: { 1: seen } });
});

test("partitions of the outbox are kept for a tenant with a backlog", async () => {
  await tell(6, numbers(1_000));
  const first = await read("");
  const second = await read(first.position ?? "");
  await read(second.position ?? "");
  const sent = async () => (await client.query(messagesSentUntil.text, [new Date(Date.now() + 60_000)])).rows[0]?.sent;
  expect(await sent()).toBe(false);
  await readAll();
  expect(await sent()).toBe(true);
});

test("whatever is committed while pages are read, and however often an answer is lost, each tenant is told all of it once", async () => {
  const others = await Promise.all([fixture.db.pool.connect(), fixture.db.pool.connect()]);
  let state = 20_261_126;
  const random = (n: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % n;
  };
  const next = new Map<number, number>();
  const told: string[] = [];
  let confirmed = "";
  const write = async (by: PoolClient) => {
    const tenantId = 1 + random(4);
    const from = next.get(tenantId) ?? 0;
    const count = 1 + random(random(3) === 0 ? 700 : 20);
    next.set(tenantId, from + count);
    await tell(tenantId, numbers(count, from), { each: 1 + random(150), by });
  };
  try {
    for (let round = 0; round < 60; round += 1) {
      // a transaction that commits later than others that began after it
      const by = others[round % 2] as PoolClient;
      await by.query(random(2) === 0 ? "commit" : "begin");
      for (let n = random(3); n > 0; n -= 1) await write(random(2) === 0 ? by : client);
      const answer = await read(confirmed);
      confirmed = "";
      if (random(4) === 0) continue;
      told.push(...said(answer));
      confirmed = answer.position ?? "";
    }
  } finally {
    for (const other of others) {
      await other.query("commit");
      other.release();
    }
  }
  told.push(...(await readAll({ first: confirmed, retried: () => random(4) === 0 })).all);
  for (const [tenantId, count] of next) {
    const ids = of(tenantId, told).map((one) => Number(one.slice(2)));
    expect(ids.toSorted((one, other) => one - other)).toEqual(numbers(count));
  }
});
