import { quotaDefaults } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSets } from "../distribution-sets/distribution-sets.ts";
import { type HttpFixture, httpFixture, origin } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

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

const base = "/api/mgmt/v1";
const ask = (method: string, path: string, body?: unknown) => http.call(method, base + path, body === undefined ? {} : { body });
const status = async (method: string, path: string, body?: unknown) => {
  const answer = await ask(method, path, body);
  return answer.status < 300 ? [answer.status] : [answer.status, answer.body?.errorCode?.replace("hawkbit.server.error.", "")];
};
const moduleType = async (key: string, more: object = {}) =>
  (await ask("POST", "/softwaremoduletypes", [{ key, name: key, ...more }])).body[0].id as number;
const setType = async (key: string, mandatory: number[] = [], optional: number[] = []) => {
  const refer = (ids: number[]) => ids.map((id) => ({ id }));
  const body = [{ key, name: key, mandatorymodules: refer(mandatory), optionalmodules: refer(optional) }];
  return (await ask("POST", "/distributionsettypes", body)).body[0].id as number;
};
const listed = async (id: number, which: "mandatory" | "optional") =>
  (await ask("GET", `/distributionsettypes/${id}/${which}moduletypes`)).body.map((type: { id: number }) => type.id);
const module = async (type: string, name: string) =>
  (await ask("POST", "/softwaremodules", [{ name, version: "1", type }])).body[0].id as number;
const set = async (type: string, name: string, modules: number[] = []) =>
  (await ask("POST", "/distributionsets", [{ name, version: "1", type, modules: modules.map((id) => ({ id })) }])).body[0];

test("a module type is created, changed where it may change, and deleted when nothing refers to it", async () => {
  const [made] = (
    await ask("POST", "/softwaremoduletypes", [{ key: "k1", name: "n1", description: "d", colour: "red", maxAssignments: 3 }])
  ).body;
  expect(made).toMatchObject({
    key: "k1",
    name: "n1",
    description: "d",
    colour: "red",
    maxAssignments: 3,
    deleted: false,
    createdBy: "admin",
  });
  const path = `/softwaremoduletypes/${made.id}`;
  expect(made._links).toEqual({ self: { href: `${origin}${base}${path}` } });
  const changed = (await ask("PUT", path, { name: "x", key: "y", maxAssignments: 9, colour: "blue", description: null })).body;
  expect(changed).toMatchObject({ key: "k1", name: "n1", description: "d", colour: "blue", maxAssignments: 3 });
  expect((await ask("GET", path)).body).toEqual(changed);
  expect(
    await status("POST", "/softwaremoduletypes", [
      { key: "k9", name: "n9" },
      { key: "k1", name: "n2" },
    ]),
  ).toEqual([409, "repo.entityAlreadyExists"]);
  expect(await status("POST", "/softwaremoduletypes", [{ key: "k2", name: "n1" }])).toEqual([409, "repo.entityAlreadyExists"]);
  expect((await ask("GET", "/softwaremoduletypes?q=key==k9")).body.total).toBe(0);
  expect(await status("DELETE", path)).toEqual([200]);
  expect(await status("GET", path)).toEqual([404, "repo.entityNotFound"]);
  expect(await status("DELETE", path)).toEqual([404, "repo.entityNotFound"]);
  expect(await status("PUT", path, {})).toEqual([404, "repo.entityNotFound"]);
});

test("a module type that something refers to stays readable, keeps its key taken, and cannot be used for anything new", async () => {
  const [inModule, inSetType] = [await moduleType("in-module"), await moduleType("in-set-type")];
  await module("in-module", "m");
  await setType("lists-it", [inSetType]);
  for (const [id, key] of [
    [inModule, "in-module"],
    [inSetType, "in-set-type"],
  ] as const) {
    expect(await status("DELETE", `/softwaremoduletypes/${id}`)).toEqual([200]);
    expect(await status("DELETE", `/softwaremoduletypes/${id}`)).toEqual([200]);
    expect((await ask("GET", `/softwaremoduletypes/${id}`)).body.deleted).toBe(true);
    expect((await ask("GET", `/softwaremoduletypes?q=key==${key}`)).body.total).toBe(0);
    expect((await ask("GET", `/softwaremoduletypes?q=key==${key}&soft_deleted_mode=only_soft_deleted`)).body.total).toBe(1);
    expect(await status("POST", "/softwaremodules", [{ name: "new", version: "1", type: key }])).toEqual([400, "repo.constraintViolation"]);
    expect(await status("POST", "/softwaremoduletypes", [{ key, name: "other" }])).toEqual([409, "repo.entityAlreadyExists"]);
    expect(await status("POST", "/distributionsettypes", [{ key: "t", name: "t", optionalmodules: [{ id }] }])).toEqual([
      400,
      "repo.constraintViolation",
    ]);
  }
});

test("a set type lists module types; one that is in both lists is optional, and one can be moved", async () => {
  const [a, b, c] = [await moduleType("a"), await moduleType("b"), await moduleType("c")];
  const id = await setType("abc", [a, b, b], [b]);
  const path = `/distributionsettypes/${id}`;
  expect([await listed(id, "mandatory"), await listed(id, "optional")]).toEqual([[a], [b]]);
  expect((await ask("GET", `${path}/mandatorymoduletypes/${a}`)).body).toMatchObject({ id: a, key: "a" });
  expect(await status("GET", `${path}/mandatorymoduletypes/${b}`)).toEqual([404, "repo.entityNotFound"]);
  expect(await status("POST", `${path}/optionalmoduletypes`, { id: a })).toEqual([200]);
  expect(await status("POST", `${path}/mandatorymoduletypes`, { id: c })).toEqual([200]);
  expect(await status("POST", `${path}/mandatorymoduletypes`, { id: c })).toEqual([200]);
  expect([await listed(id, "mandatory"), await listed(id, "optional")]).toEqual([[c], [a, b]]);
  expect(await status("DELETE", `${path}/mandatorymoduletypes/${a}`)).toEqual([200]);
  expect(await status("DELETE", `${path}/optionalmoduletypes/${a}`)).toEqual([200]);
  expect(await listed(id, "optional")).toEqual([b]);
  for (const [method, tail, body] of [
    ["POST", "/optionalmoduletypes", { id: 4711 }],
    ["DELETE", "/optionalmoduletypes/4711", undefined],
  ] as const) {
    expect(await status(method, path + tail, body)).toEqual([404, "repo.entityNotFound"]);
    expect(await status(method, `/distributionsettypes/4711${tail}`, body)).toEqual([404, "repo.entityNotFound"]);
  }
  expect(await status("POST", `${path}/optionalmoduletypes`, [{ id: a }])).toEqual([400, "rest.body.notReadable"]);
  expect(
    await status("POST", "/distributionsettypes", [
      { key: "x", name: "x" },
      { key: "y", name: "y", mandatorymodules: [{ id: 4711 }] },
    ]),
  ).toEqual([404, "repo.entityNotFound"]);
  expect((await ask("GET", "/distributionsettypes?q=key==x")).body.total).toBe(0);
});

test("the lists of a type cannot change while any set is of it, but its colour can", async () => {
  const [a, b] = [await moduleType("fix-a"), await moduleType("fix-b")];
  const id = await setType("fixed", [a]);
  const made = await set("fixed", "of fixed");
  const path = `/distributionsettypes/${id}`;
  expect(await status("POST", `${path}/optionalmoduletypes`, { id: b })).toEqual([403, "entityReadOnly"]);
  expect(await status("DELETE", `${path}/mandatorymoduletypes/${a}`)).toEqual([403, "entityReadOnly"]);
  expect((await ask("PUT", path, { colour: "green", name: "no" })).body).toMatchObject({ colour: "green", name: "fixed" });

  expect(await status("DELETE", path)).toEqual([200]);
  expect((await ask("GET", path)).body.deleted).toBe(true);
  expect((await ask("GET", "/distributionsettypes?q=key==fixed")).body.total).toBe(0);
  expect(await status("POST", "/distributionsets", [{ name: "late", version: "1", type: "fixed" }])).toEqual([
    400,
    "repo.constraintViolation",
  ]);
  expect((await ask("GET", `/distributionsets/${made.id}`)).body.type).toBe("fixed");
});

test("an unused type is deleted, but the tenant's default stays", async () => {
  const id = await setType("free", [await moduleType("free-a")]);
  const [targetType] = (await ask("POST", "/targettypes", [{ name: "lists free", compatibledistributionsettypes: [{ id }] }])).body;
  expect(await status("DELETE", `/distributionsettypes/${id}`)).toEqual([200]);
  expect(await status("GET", `/distributionsettypes/${id}`)).toEqual([404, "repo.entityNotFound"]);
  expect((await ask("GET", `/targettypes/${targetType.id}/compatibledistributionsettypes`)).body).toEqual([]);
  const standard = (await ask("GET", "/system/configs/default.ds.type")).body.value;
  expect(await status("DELETE", `/distributionsettypes/${standard}`)).toEqual([409, "repo.entityAlreadyExists"]);
});

test("no type lists more module types than the quota", async () => {
  const keys = Array.from({ length: quotaDefaults.SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT + 1 }, (_, n) => ({
    key: `q${n}`,
    name: `q${n}`,
  }));
  const ids: number[] = (await ask("POST", "/softwaremoduletypes", keys)).body.map((type: { id: number }) => type.id);
  const all = ids.map((id) => ({ id }));
  expect(await status("POST", "/distributionsettypes", [{ key: "q", name: "q", mandatorymodules: all }])).toEqual([
    403,
    "quota.tooManyEntries",
  ]);
  const id = await setType("q", ids.slice(0, 10), ids.slice(10, -1));
  const path = `/distributionsettypes/${id}/optionalmoduletypes`;
  expect(await status("POST", path, { id: ids.at(-1) })).toEqual([403, "quota.tooManyEntries"]);
  expect(await status("POST", path, { id: ids[0] })).toEqual([200]);

  await fixture.setQuota("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT", 1);
  expect(await status("POST", path, { id: ids[1] })).toEqual([200]); // The type was moved, not added.
  const two = [{ key: "q-two", name: "q-two", optionalmodules: all.slice(0, 2) }];
  expect((await ask("POST", "/distributionsettypes", two)).body.message).toBe(
    "Quota exceeded: Cannot assign 2 more SoftwareModuleType entities to DistributionSetType '<new>'. The maximum is 1.",
  );
  await fixture.setQuota("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT", 0);
  expect(await status("POST", path, { id: ids.at(-1) })).toEqual([200]);
  await fixture.setQuota("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT", null);
});

test("a set that is created while its type changes is checked against the changed type", async () => {
  const [a, b] = [await moduleType("race-a"), await moduleType("race-b")];
  const id = await setType("race", [a]);
  const moduleId = await module("race-a", "race");
  const other = await fixture.db.pool.connect();
  try {
    await other.query("begin");
    await other.query("select from distribution_set_types where id = $1 for update", [id]);
    await other.query("insert into set_type_module_types values (1, $1, $2, true)", [id, b]);
    await other.query("update distribution_set_types set revision = revision + 1 where id = $1", [id]);
    const request = { name: "race", version: "1", type: "race", modules: [{ id: moduleId }], requiredMigrationStep: false, locked: false };
    const making = createSets({ ...fixture, fault: () => {} }, fixture.actor, [request]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await other.query("commit");
    expect((await making)[0]?.complete).toBe(false);
  } finally {
    other.release();
  }
});
