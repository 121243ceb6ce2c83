import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { listGroups } from "./target-groups.sql.ts";

const api = "/api/mgmt/v1";
let fixture: Fixture;
let http: HttpFixture;

beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.asController("delete from targets");
});

/** Creates targets of one group each; those of `typed/…` have a type of their own. */
async function fleet(groups: Record<string, string | null>): Promise<void> {
  for (const [controllerId, group] of Object.entries(groups)) {
    await fixture.addTarget(controllerId, controllerId.startsWith("typed") ? { typeId: 7 } : {});
    await fixture.asController("update targets set target_group = $2 where controller_id = $1", [controllerId, group]);
  }
}
const list = async (query = "", more = {}) => http.call("GET", `${api}/targetgroups${query}`, more);
const names = async (query = "", more = {}) => (await list(query, more)).body;
/** Returns the ids of the targets that controller was last asked to move. */
const moved = () => http.requested.findLast(({ method }) => method === "changeGroup")?.request["targetIds"] as number[];
const targetsIn = async (path: string, more = {}): Promise<string[]> => {
  const { body } = await http.call("GET", `${api}/targetgroups${path}`, more);
  expect(body.content, JSON.stringify(body)).toBeDefined();
  return body.content.map((target: { controllerId: string }) => target.controllerId);
};

test("groups are listed by name, each once, even if names differ in their case only", async () => {
  expect(await names()).toEqual([]);
  await fleet({ a: "Europe", b: "Europe", c: "europe", d: "Europe/East", e: null, f: "Asia", g: "%", h: "a_b" });
  const all = ["%", "a_b", "Asia", "Europe", "europe", "Europe/East"];
  expect(await names()).toEqual(all);
  expect(await names("?after=Asia")).toEqual(all.slice(3));
  // A page may begin after a name that no group has any more.
  expect(await names("?after=EUROPE")).toEqual(all.slice(3));
  expect(await names("?after=zzz")).toEqual([]);
});

test("a page of groups names the next one in a link", async () => {
  await fleet({ a: "A/B", b: "b&c", c: "c" });
  const first = await list("?limit=2");
  expect(first.body).toEqual(["A/B", "b&c"]);
  expect(first.headers.get("link")).toBe(`<${origin}${api}/targetgroups?limit=2&after=b%26c>; rel="next"`);
  const next = await list("?limit=2&after=b%26c");
  expect([next.body, next.headers.get("link")]).toEqual([["c"], null]);
});

test("the list of groups reads the index once per group, not once per target", async () => {
  await fixture.asController(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_group, created_by, last_modified_by)
     select 1, 10000 + n, 'x-' || n, 'x', '', '', 'group ' || n % 5, 'test', 'test' from generate_series(1, 20000) n`,
  );
  await fixture.asController("analyze targets");
  expect(await fixture.roundTrips.during(async () => expect(await names()).toHaveLength(5))).toBe(1);
  const plan = await fixture.rows(`explain (analyze, costs off, timing off) ${listGroups.text}`, [1, null, 100]);
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  expect(text).toContain("targets_group");
  expect(text).not.toContain("Seq Scan on targets");
  for (const [, rows] of text.matchAll(/actual rows=(\d+)/g)) expect(Number(rows)).toBeLessThan(20);
});

test("targets of a group are found in any case, with subgroups on request, and a percent sign in a name stands for itself", async () => {
  await fleet({ a: "Europe", b: "europe/East", c: "Europe/East/North", d: "Europe2", e: "Euro%", f: "Euro%/x", g: null });
  expect(await targetsIn("/europe/assigned")).toEqual(["a"]);
  expect(await targetsIn("/assigned?group=EUROPE")).toEqual(["a"]);
  expect(await targetsIn("/assigned?group=Europe&subgroups=true")).toEqual(["a", "b", "c"]);
  expect(await targetsIn("/assigned?group=Europe/East&subgroups=true")).toEqual(["b", "c"]);
  expect(await targetsIn("/assigned?group=Euro%25&subgroups=true")).toEqual(["e", "f"]);
  expect(await targetsIn("/assigned?group=Europe&subgroups=true&sort=group:DESC,id:ASC&limit=2&q=name==*")).toHaveLength(2);
  expect(await targetsIn("/assigned?group=nothing")).toEqual([]);
  for (const path of ["/assigned", "/assigned?group=", "/assigned?subgroups=maybe&group=x"])
    expect((await http.call("GET", `${api}/targetgroups${path}`)).status).toBe(400);
});

test("a list of ids is sent to controller as it is; an empty one is refused", async () => {
  await fleet({ a: null, b: "old" });
  expect((await http.call("PUT", `${api}/targetgroups/assigned?group=Europe/East`, { body: ["a", "nobody"] })).status).toBe(200);
  expect(http.requested.at(-1)).toMatchObject({ method: "changeGroup", request: { group: "Europe/East", controllerIds: ["a", "nobody"] } });
  expect((await http.call("PUT", "/rest/v1/targetgroups/Asia/assigned", { body: ["b"] })).status).toBe(204);
  expect((await http.call("DELETE", `${api}/targetgroups/assigned`, { body: ["a"] })).status).toBe(200);
  expect(http.requested.at(-1)?.request).not.toHaveProperty("group");
  expect(await names()).toEqual(["Asia"]);
  const requested = http.requested.length;
  for (const [method, path] of [
    ["PUT", "/assigned?group=g"],
    ["PUT", "/g/assigned"],
    ["DELETE", "/assigned"],
  ] as const) {
    const { status, body } = await http.call(method, `${api}/targetgroups${path}`, { body: [] });
    expect([status, body.errorCode]).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
  }
  for (const path of [
    "/assigned",
    "/assigned?group=",
    "/assigned?group=%20",
    `/assigned?group=${"g".repeat(257)}`,
    "/%3Cb%3Ex%3C%2Fb%3E/assigned",
  ])
    expect((await http.call("PUT", `${api}/targetgroups${path}`, { body: ["a"] })).status, path).toBe(400);
  expect(http.requested.length).toBe(requested);
});

test("a query changes its targets that are not in the group yet; without a query nothing is changed", async () => {
  await fleet({ "a-1": "x", "a-2": null, "a-3": "new", "b-1": "x" });
  expect((await http.call("PUT", `${api}/targetgroups?group=new&q=controllerid==a-*`)).status).toBe(200);
  expect(await targetsIn("/new/assigned")).toEqual(["a-1", "a-2", "a-3"]);
  expect(moved()).toHaveLength(2);
  expect((await http.call("PUT", `${api}/targetgroups/other?q=group==x`)).status).toBe(200);
  expect(await targetsIn("/other/assigned")).toEqual(["b-1"]);
  expect((await http.call("DELETE", `${api}/targetgroups?q=group==new`)).status).toBe(200);
  expect(await names()).toEqual(["other"]);
  const requested = http.requested.length;
  expect((await http.call("DELETE", `${api}/targetgroups?q=name==nobody`)).status).toBe(200);
  for (const [method, path] of [
    ["PUT", "?group=g"],
    ["PUT", "?q=name==*"],
    ["PUT", "/g"],
    ["PUT", "/g?q="],
    ["PUT", "/g?q=foo==1"],
    ["DELETE", ""],
    ["DELETE", "?q=%20"],
  ] as const)
    expect((await http.call(method, `${api}/targetgroups${path}`)).status, path).toBe(400);
  expect(http.requested.length).toBe(requested);
});

test.each([
  [api, 403],
  ["/rest/v1", 429],
])("a query that matches too many targets for one request changes none: %s", async (base, status) => {
  await fixture.asController(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
     select 1, 10000 + n, 'x-' || n, 'x', '', '', 'test', 'test' from generate_series(1, 20001) n`,
  );
  const requested = http.requested.length;
  const answer = await http.call("PUT", `${base}/targetgroups/g?q=name==x`);
  expect([answer.status, answer.body.errorCode]).toEqual([status, "hawkbit.server.error.quota.tooManyEntries"]);
  expect(http.requested.length).toBe(requested);
  expect((await http.call("PUT", `${base}/targetgroups/g?q=name==x;controllerid!=x-1`)).status).toBeLessThan(300);
  expect(moved()).toHaveLength(20_000);
});

test("a user limited to target types sees and changes only targets of these types", async () => {
  await fixture.rows(
    "insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k7', 'n7', 'a', 'a') on conflict do nothing",
  );
  await fleet({ "typed-1": "mine", "typed-2": "Shared", plain: "Shared", other: "theirs" });
  const scopes = { READ_TARGET: [7], UPDATE_TARGET: [7] };
  expect(await names("", { scopes })).toEqual(["mine", "Shared"]);
  expect(await names("?limit=1&after=mine", { scopes })).toEqual(["Shared"]);
  expect(await targetsIn("/assigned?group=shared", { scopes })).toEqual(["typed-2"]);
  expect((await http.call("PUT", `${api}/targetgroups/g?q=name==*`, { scopes })).status).toBe(200);
  expect(moved()).toHaveLength(2);
  const requested = http.requested.length;
  // Targets that may be changed and targets that may be read differ.
  await http.call("PUT", `${api}/targetgroups/h?q=name==*`, { scopes: { READ_TARGET: [7], UPDATE_TARGET: [8] } });
  expect(http.requested.length).toBe(requested);
});

test("targets show their group, and can be created and changed with one", async () => {
  await fleet({ a: "Europe/East", b: null });
  const shown = async (id: string) => (await http.call("GET", `${api}/targets/${id}`)).body;
  expect((await shown("a")).group).toBe("Europe/East");
  expect(await shown("b")).not.toHaveProperty("group");
  await http.call("POST", `${api}/targets`, { body: [{ controllerId: "c", group: " Asia " }] });
  expect(http.requested.findLast(({ method }) => method === "createTargets")?.request).toMatchObject({ targets: [{ group: "Asia" }] });
  await http.call("PUT", `${api}/targets/a`, { body: { group: "" } });
  expect(http.requested.findLast(({ method }) => method === "updateTarget")?.request).toMatchObject({ group: "" });
  await http.call("PUT", `${api}/targets/a`, { body: { name: "n", group: null } });
  expect(http.requested.findLast(({ method }) => method === "updateTarget")?.request).not.toHaveProperty("group");
  for (const group of ["g".repeat(257), "<b>x</b>", [5]])
    expect((await http.call("PUT", `${api}/targets/a`, { body: { group } })).status).toBe(400);
});
