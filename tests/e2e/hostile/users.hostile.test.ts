import { uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Shot } from "./attacker/attack.ts";
import { fleetId, makeFleet, makeReader } from "./support/fleet.ts";
import { attackersAddresses, expectNobodyHarmed, type HostileStack, startHostileStack } from "./support/hostile-stack.ts";
import { chunked, head, oneMiB } from "./support/openings.ts";

// A user of one tenant does all that its permissions allow; other tenants must not notice.

const api = "/api/mgmt/v1";
const targets = 20_000;
const hurriedMs = 500;
let hostile: HostileStack;
let reader: string;
let setId: number;

beforeAll(async () => {
  hostile = await startHostileStack();
  await makeFleet(hostile.loud, targets);
  reader = await makeReader(hostile.loud);
  setId = (await hostile.loud.boss.createSetWithFile()).set.id;
}, 300_000);
afterAll(() => hostile?.stop());

test("without an attack this machine is fast enough for the measurement", async () => {
  expectNobodyHarmed(await hostile.peace());
});

const json = (authorization: string) => ({ authorization, "content-type": "application/json" });
const encoded = (text: string): string => Buffer.from(text).toString("base64");
const read = (path: string): Shot => ({ method: "GET", path: `${api}/${path}`, headers: { authorization: reader } });
const byQuery = (q: string, more = ""): Shot => read(`targets?q=${encodeURIComponent(q)}${more}`);
const pattern = (n: number): string => `description==*a*b*zz*q*${n}`;
const patterns = (n: number, by: string): string => Array.from({ length: n }, (_, i) => pattern(i)).join(by);

test("bodies of 1 MiB that never end, by a signed-in user", async () => {
  const signedIn = { ...chunked, authorization: hostile.loud.authorization };
  const report = await hostile.attack(
    "unended bodies of a user",
    {
      kind: "siege",
      openings: [head("POST", `${api}/targets`, signedIn), head("PUT", `${api}/system/configs`, signedIn)],
      connections: 320,
      perSecond: 60,
      untilAnswered: true,
      filler: oneMiB,
    },
    attackersAddresses(30),
  );
  expectNobodyHarmed(report);
});

test.each([12, 50])("queries of 200 patterns over 20,000 targets, %i at once, given up after half a second", async (concurrency) => {
  const report = await hostile.attack(
    `200 patterns, ${concurrency} at once`,
    { kind: "volley", concurrency, abandonAfterMs: hurriedMs, shots: [byQuery(patterns(200, ",")), byQuery(patterns(200, ";"))] },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

/** These queries are allowed and nevertheless expensive: patterns without a beginning, every relation, far pages in an order without an index. */
const dear = (): readonly Shot[] => [
  byQuery(patterns(10, ","), "&sort=description:DESC&limit=500"),
  byQuery(`(${patterns(5, ",")}),(${patterns(5, ",")})`, "&sort=lastmodifiedat:DESC&limit=500&offset=19000"),
  byQuery("attribute.a==*x*,metadata.a==*x*,tag==*x*,assignedds.name==*x*,installedds.name==*x*"),
  byQuery("name=out=(a,b,c);description!=*q*;controllerid!=*zz*", "&sort=description:ASC,name:DESC&limit=500&offset=19500"),
  read("targets?sort=description:DESC&limit=500&offset=19999"),
  read(`actions?q=${encodeURIComponent("target.name==*a*b*,distributionset.name==*c*,rollout.name==*d*")}&limit=500`),
  byQuery(Array.from({ length: 200 }, (_, n) => `controllerid==id-${n}`).join(",")),
];

test.each([12, 50])("the most expensive queries that are allowed, %i at once, given up after half a second", async (concurrency) => {
  const report = await hostile.attack(
    `dear queries, ${concurrency} at once`,
    { kind: "volley", concurrency, abandonAfterMs: hurriedMs, shots: dear() },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

test("the most expensive queries that are allowed, with every answer waited for", async () => {
  const report = await hostile.attack(
    "dear queries, waited for",
    { kind: "volley", concurrency: 20, shots: dear() },
    attackersAddresses(20),
  );
  expectNobodyHarmed(report);
});

test("previews of rollouts and counts of filters, 30 at once", async () => {
  const { authorization } = hostile.loud;
  const groups = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ name: `g${i}`, targetPercentage: 50, targetFilterQuery: pattern(i) }));
  const preview = (fields: object): Shot => ({
    method: "POST",
    path: `${api}/rollouts/preview`,
    headers: json(authorization),
    body: encoded(JSON.stringify({ name: "p", distributionSetId: setId, targetFilterQuery: patterns(10, ","), ...fields })),
  });
  const report = await hostile.attack(
    "previews",
    {
      kind: "volley",
      concurrency: 30,
      abandonAfterMs: 1_000,
      shots: [preview({ amountGroups: 500 }), preview({ groups: groups(9) }), preview({ groups: groups(500) })],
    },
    attackersAddresses(10),
  );
  expectNobodyHarmed(report);
});

test("20,000 targets as CSV, 30 at once, whose client does not read", async () => {
  const report = await hostile.attack(
    "CSV that nobody reads",
    {
      kind: "volley",
      concurrency: 30,
      unreadForMs: 12_000,
      shots: [read("targets.csv"), read(`targets.csv?q=${encodeURIComponent(patterns(10, ","))}`)],
    },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

const routesWithLists = ["targets", "distributionsets", "softwaremodules", "users", "targettags", "roles", "oauth2-clients", "targettypes"];

test.each([4, 20])("1 MB of [{},{},…] to routes that accept lists, %i at once, whose client does not read answers", async (concurrency) => {
  const headers = json(hostile.loud.authorization);
  const list = encoded(`[${"{},".repeat(340_000)}{}]`);
  const nested = encoded(JSON.stringify([{ name: "x", modules: Array.from({ length: 300_000 }, () => 0) }]));
  const shots = routesWithLists.map((path) => ({ method: "POST", path: `${api}/${path}`, headers, body: list }));
  const report = await hostile.attack(
    `lists of nothing, ${concurrency} at once`,
    {
      kind: "volley",
      concurrency,
      unreadForMs: 12_000,
      shots: [...shots, { method: "POST", path: `${api}/distributionsets`, headers, body: nested }],
    },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

test("bodies of 1 MB that are expensive to parse", async () => {
  const headers = json(hostile.loud.authorization);
  const post = (path: string, body: string): Shot => ({ method: "POST", path: `${api}/${path}`, headers, body: encoded(body) });
  const report = await hostile.attack(
    "bodies that are hard to read",
    {
      kind: "volley",
      concurrency: 10,
      shots: [
        post("targets", "[".repeat(1_000_000)),
        post("targets", `${'{"a":'.repeat(170_000)}1${"}".repeat(170_000)}`),
        post("targets", `[{${Array.from({ length: 70_000 }, (_, n) => `"k${n}":0`).join(",")}}]`),
        post("rollouts", `{"groups":[${"{},".repeat(340_000)}{}]}`),
        post("targets", `"${"\\u0000".repeat(170_000)}"`),
        post("targets", `[{"controllerId":"${"x".repeat(1_000_000)}"}]`),
        post(`targets?q=${"(".repeat(4_000)}`, "[]"),
      ],
    },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

test("lists of 8 MiB, the maximum length of a list, ten at once", async () => {
  const headers = json(hostile.loud.authorization);
  const shot = (body: string): Shot => ({ method: "POST", path: `${api}/targets`, headers, body: encoded(body) });
  const maxLength = 8 * 1024 * 1024 - 1_000;
  const list = (item: string) =>
    `[${Array(Math.floor(maxLength / (item.length + 1)))
      .fill(item)
      .join(",")}]`;
  const report = await hostile.attack(
    "lists of 8 MiB",
    {
      kind: "volley",
      concurrency: 10,
      shots: [
        // These are some 120,000 members, just below the number that is counted before the body is parsed.
        shot(list(`{"controllerId":"${"x".repeat(110)}"}`)),
        shot(list(`"${"x".repeat(60)}"`)),
        shot(`[{${Array.from({ length: 120_000 }, (_, n) => `"${"k".repeat(50)}${n}":0`).join(",")}}]`),
        shot(`["${"x".repeat(maxLength)}"]`),
      ],
    },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

test("queries that are deep, long or wrong", async () => {
  const report = await hostile.attack(
    "wrong queries",
    {
      kind: "volley",
      concurrency: 40,
      shots: [
        byQuery(`${"(".repeat(2_500)}name==a${")".repeat(2_500)}`),
        byQuery(`name=in=(${"a,".repeat(3_500)}a)`),
        byQuery("name==a;".repeat(800)),
        byQuery("*".repeat(7_000)),
        byQuery(`name==${"*a".repeat(3_000)}`),
        read(`targets?${"limit=1&".repeat(1_500)}`),
        read("targets?offset=9007199254740991&limit=500"),
      ],
    },
    attackersAddresses(5),
  );
  expectNobodyHarmed(report);
});

const changesOf = (path: (n: number) => string) =>
  Array.from({ length: 50 }, (_, n) => ({
    method: "PUT",
    path: `${api}/targets/${path(n)}`,
    headers: json(hostile.loud.authorization),
    body: encoded(JSON.stringify({ description: uniqueName("d") })),
  }));

test("changes as fast as they are accepted, 50 at once", async () => {
  const attack = { kind: "volley", concurrency: 50, shots: changesOf(fleetId) } as const;
  const report = await hostile.attack("changes", attack, attackersAddresses(20));
  expectNobodyHarmed(report);
  expect(report.spoils.begun).toBeGreaterThan(0);
});

test("changes of one target, 50 at once, given up after 10 ms", async () => {
  const attack = { kind: "volley", concurrency: 50, abandonAfterMs: 10, shots: changesOf(() => fleetId(0)) } as const;
  const report = await hostile.attack("changes given up", attack, attackersAddresses(20));
  expectNobodyHarmed(report);
  expect(report.spoils.abandoned).toBeGreaterThan(0);
});
