import { quotaDefaults } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

describe.each([
  ["/api/mgmt/v1", 200, 403],
  ["/rest/v1", 204, 429],
] as const)("%s", (base, emptied, quota) => {
  const ask = (method: string, path: string, body?: unknown) => http.call(method, base + path, body === undefined ? {} : { body });
  const status = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body);
    return answer.status < 300 ? [answer.status] : [answer.status, answer.body?.errorCode?.replace("hawkbit.server.error.", "")];
  };
  const make = async (body: object) => (await ask("POST", "/targettypes", [body])).body[0];

  test("a missing key or name is taken from the other, and one of them must be given", async () => {
    const [byName, byKey] = [await make({ name: `name ${base}` }), await make({ key: `key ${base}`, colour: "rgb(1,2,3)" })];
    expect(byName).toMatchObject({ key: `name ${base}`, name: `name ${base}`, deleted: false });
    expect(byKey).toMatchObject({ key: `key ${base}`, name: `key ${base}`, colour: "rgb(1,2,3)" });
    expect(byName.colour).toBeUndefined();
    expect(await status("POST", "/targettypes", [{ description: "d" }])).toEqual([400, "target.type.keyOrNameRequired"]);
    expect(await status("POST", "/targettypes", [{ name: "n".repeat(65) }])).toEqual([400, "repo.constraintViolation"]);
    expect(await status("POST", "/targettypes", [{ name: `new ${base}` }, { name: `name ${base}` }])).toEqual([
      409,
      "repo.entityAlreadyExists",
    ]);
    expect((await ask("GET", `/targettypes?q=name==${encodeURIComponent(`'new ${base}'`)}`)).body.total).toBe(0);
  });

  test("a type is changed except for its key, listed and searched, and deleted when no target has it", async () => {
    const made = await make({ key: `k-${emptied}`, name: `n-${emptied}` });
    const path = `/targettypes/${made.id}`;
    const self = `${origin}${base}${path}`;
    expect(made._links).toEqual({ self: { href: self } });
    expect((await ask("GET", path))?.body._links).toEqual({
      self: { href: self },
      compatibledistributionsettypes: { href: `${self}/compatibledistributionsettypes` },
    });
    const changed = (await ask("PUT", path, { name: `m-${emptied}`, key: "x", description: "d" })).body;
    expect(changed).toMatchObject({ key: `k-${emptied}`, name: `m-${emptied}`, description: "d" });
    expect((await ask("GET", `/targettypes?q=key==k-${emptied}&sort=name:DESC`)).body).toMatchObject({
      total: 1,
      content: [{ id: made.id }],
    });
    await fixture.addTarget(`typed-${emptied}`, { typeId: made.id });
    expect(await status("DELETE", path)).toEqual([409, "target.type.used"]);
    await fixture.asController("delete from targets where controller_id = $1", [`typed-${emptied}`]);
    expect(await status("DELETE", path)).toEqual([emptied]);
    for (const [method, body] of [
      ["DELETE", undefined],
      ["GET", undefined],
      ["PUT", {}],
    ] as const) {
      expect(await status(method, path, body)).toEqual([404, "repo.entityNotFound"]);
    }
  });

  test("a type lists the set types that its targets may get", async () => {
    const { id } = await make({ name: `lists-${emptied}`, compatibledistributionsettypes: [{ id: 11 }] });
    const path = `/targettypes/${id}/compatibledistributionsettypes`;
    const listed = async () => (await ask("GET", path)).body.map((type: { key: string }) => type.key);
    expect(await listed()).toEqual(["os"]);
    expect(await status("POST", path, [{ id: 11 }, { id: 12 }])).toEqual([emptied]);
    expect(await listed()).toEqual(["os", "app"]);
    expect(await status("POST", path, [{ id: 13 }, { id: 4711 }])).toEqual([404, "repo.entityNotFound"]);
    expect(await listed()).toEqual(["os", "app"]);
    expect(await status("DELETE", `${path}/11`)).toEqual([emptied]);
    expect(await status("DELETE", `${path}/11`)).toEqual([emptied]);
    expect(await listed()).toEqual(["app"]);
    expect(await status("DELETE", `${path}/4711`)).toEqual([404, "repo.entityNotFound"]);
    for (const [method, tail, body] of [
      ["GET", "", undefined],
      ["POST", "", [{ id: 11 }]],
      ["DELETE", "/11", undefined],
    ] as const) {
      expect(await status(method, `/targettypes/4711/compatibledistributionsettypes${tail}`, body)).toEqual([404, "repo.entityNotFound"]);
    }
    const before = (await ask("GET", "/targettypes")).body.total;
    const unknown = [{ name: `good-${emptied}` }, { name: `bad-${emptied}`, compatibledistributionsettypes: [{ id: 4711 }] }];
    expect(await status("POST", "/targettypes", unknown)).toEqual([404, "repo.entityNotFound"]);
    expect((await ask("GET", "/targettypes")).body.total).toBe(before);
  });

  test("no type lists more set types than the quota", async () => {
    const keys = Array.from({ length: quotaDefaults.DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT + 1 }, (_, n) => ({
      key: `q${n}-${emptied}`,
      name: `q${n}-${emptied}`,
    }));
    const setTypes: { id: number }[] = (await ask("POST", "/distributionsettypes", keys)).body.map(({ id }: { id: number }) => ({ id }));
    const body = { name: `q-${emptied}`, compatibledistributionsettypes: setTypes };
    expect(await status("POST", "/targettypes", [body])).toEqual([quota, "quota.tooManyEntries"]);
    const { id } = await make({ ...body, compatibledistributionsettypes: setTypes.slice(1) });
    const path = `/targettypes/${id}/compatibledistributionsettypes`;
    expect(await status("POST", path, setTypes.slice(0, 1))).toEqual([quota, "quota.tooManyEntries"]);
    expect(await status("POST", path, setTypes.slice(1))).toEqual([emptied]);

    await fixture.setQuota("DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT", 1);
    expect(await status("POST", path, setTypes.slice(1))).toEqual([emptied]); // Nothing is added.
    expect((await ask("POST", path, setTypes)).body.message).toBe(
      `Quota exceeded: Cannot assign 1 more DistributionSetType entities to TargetType '${id}'. The maximum is 1.`,
    );
    await fixture.setQuota("DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT", -1);
    expect(await status("POST", path, setTypes)).toEqual([emptied]);
    await fixture.setQuota("DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT", null);
  });

  test("the type of a target is set and removed", async () => {
    const { id } = await make({ name: `of-target-${emptied}` });
    await fixture.addTarget(`t-${emptied}`);
    const path = `/targets/t-${emptied}/targettype`;
    expect(await status("POST", path, { id })).toEqual([emptied]);
    expect(http.requested.at(-1)).toMatchObject({ method: "updateTarget", request: { controllerId: `t-${emptied}`, targetTypeId: id } });
    expect(await status("POST", path, { id: -1 })).toEqual([404, "repo.entityNotFound"]);
    expect(await status("POST", path, { id: null })).toEqual([400, "rest.body.notReadable"]);
    expect(await status("DELETE", path)).toEqual([emptied]);
    expect(http.requested.at(-1)).toMatchObject({ method: "updateTarget", request: { controllerId: `t-${emptied}`, targetTypeId: -1 } });
    expect(await status("DELETE", "/targets/nobody/targettype")).toEqual([404, "repo.entityNotFound"]);
  });
});
