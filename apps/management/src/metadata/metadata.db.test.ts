import { quotaDefaults } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
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

const revisionOf = async (setId: number) =>
  (await fixture.rows("select revision from distribution_sets where id = $1", [setId]))[0]?.["revision"] as number;
/** Returns what controller reads of a module's metadata. */
const visible = async (moduleId: number) =>
  (await fixture.asController("select metadata from management.software_modules_v1 where id = $1", [moduleId]))[0]?.["metadata"];

describe.each([
  ["/api/mgmt/v1", { emptied: 200, quota: 403, changed: 200 }],
  ["/rest/v1", { emptied: 204, quota: 429, changed: 204 }],
] as const)("%s", (base, { emptied, quota, changed }) => {
  const ask = (method: string, path: string, body?: unknown) => http.call(method, base + path, body === undefined ? {} : { body });
  const status = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body);
    return answer.status < 300 ? [answer.status] : [answer.status, answer.body?.errorCode?.replace("hawkbit.server.error.", "")];
  };
  const rest = base === "/rest/v1";
  const module = async (name: string) =>
    (await ask("POST", "/softwaremodules", [{ name: `${name} ${base}`, version: "1", type: "os" }])).body[0].id as number;
  const set = async (name: string, modules: number[] = []) =>
    (
      await ask("POST", "/distributionsets", [
        { name: `${name} ${base}`, version: "1", type: "os", modules: modules.map((id) => ({ id })) },
      ])
    ).body[0].id as number;

  test("entries of a module are added, changed and deleted; changes that targets see increase the revision of its sets", async () => {
    const moduleId = await module("m");
    const setId = await set("s", [moduleId]);
    const path = `/softwaremodules/${moduleId}/metadata`;
    const revisions = [await revisionOf(setId)];
    const entries = [{ key: "b", value: " v " }, { key: "a", value: "w", targetVisible: true }, { key: "c" }];
    const answer = await ask("POST", path, entries);
    expect(answer.status).toBe(201);
    const stored = [
      { key: "b", value: "v", targetVisible: false },
      { key: "a", value: "w", targetVisible: true },
      { key: "c", targetVisible: false },
    ];
    expect(answer.body).toEqual(rest ? undefined : stored);
    revisions.push(await revisionOf(setId));
    expect((await ask("GET", path)).body).toEqual({ content: [stored[1], stored[0], stored[2]], total: 3, size: 3 });
    expect((await ask("GET", `${path}?q=targetvisible==true;value==W*&sort=value:DESC&limit=1`)).body).toMatchObject({
      total: 1,
      content: [stored[1]],
    });
    expect((await ask("GET", `${path}/c`)).body).toEqual(stored[2]);
    expect(await visible(moduleId)).toEqual([{ key: "a", value: "w" }]);

    const made = await ask("PUT", `${path}/b`, { targetVisible: true, value: null });
    expect([made.status, made.body]).toEqual([changed, rest ? undefined : { key: "b", value: "v", targetVisible: true }]);
    revisions.push(await revisionOf(setId));
    expect(await status("PUT", `${path}/a`, { value: "" })).toEqual([changed]);
    expect(await visible(moduleId)).toEqual([
      { key: "a", value: "" },
      { key: "b", value: "v" },
    ]);
    expect(await status("DELETE", `${path}/b`)).toEqual([emptied]);
    revisions.push(await revisionOf(setId));
    expect(revisions).toEqual([...new Set(revisions)].sort((x, y) => x - y));
    expect(await status("DELETE", `${path}/b`)).toEqual([404, "repo.entityNotFound"]);
  });

  test("entries of a set are added, changed and deleted, and its audit members change", async () => {
    const setId = await set("plain");
    const path = `/distributionsets/${setId}/metadata`;
    const before = (await ask("GET", `/distributionsets/${setId}`)).body.lastModifiedAt;
    const answer = await ask("POST", path, { key: "k/1 ü", value: "x" });
    expect([answer.status, answer.body]).toEqual([201, rest ? undefined : [{ key: "k/1 ü", value: "x" }]]);
    const one = `${path}/${encodeURIComponent("k/1 ü")}`;
    expect((await ask("GET", one)).body).toEqual({ key: "k/1 ü", value: "x" });
    expect(await status("PUT", one, { value: "y" })).toEqual([changed]);
    expect((await ask("GET", path)).body.content).toEqual([{ key: "k/1 ü", value: "y" }]);
    expect((await ask("GET", `/distributionsets/${setId}`)).body.lastModifiedAt).toBeGreaterThan(before);
    expect((await ask("GET", `${path}?q=targetvisible==true`)).status).toBe(400);
    expect(await status("DELETE", one)).toEqual([emptied]);
    expect((await ask("GET", path)).body.total).toBe(0);
  });

  test("taken and unknown keys, unknown owners, and sets that are deleted or invalid are refused", async () => {
    const [moduleId, setId, invalid] = [await module("refused"), await set("refused"), await set("invalid")];
    for (const owner of [`/softwaremodules/${moduleId}`, `/distributionsets/${setId}`]) {
      const path = `${owner}/metadata`;
      expect(await status("POST", path, [{ key: "a", value: "1" }])).toEqual([201]);
      // HawkBit 1.x overwrites the entry.
      if (!rest) {
        expect(await status("POST", path, [{ key: "n" }, { key: "a" }])).toEqual([409, "repo.entityAlreadyExists"]);
        expect(await status("POST", path, [{ key: "d" }, { key: "d" }])).toEqual([409, "repo.entityAlreadyExists"]);
      }
      expect((await ask("GET", path)).body.total).toBe(1);
      expect(await status("POST", path, [])).toEqual([201]);
      for (const [method, body] of [
        ["GET", undefined],
        ["PUT", { value: "x" }],
        ["DELETE", undefined],
      ] as const) {
        if (rest && method === "PUT") continue;
        const missing = await ask(method, `${path}/none`, body);
        expect(missing.body).toMatchObject({ errorCode: "hawkbit.server.error.repo.entityNotFound", info: { key: "none" } });
      }
    }
    for (const owner of ["/softwaremodules/4711", "/distributionsets/4711"]) {
      expect(await status("GET", `${owner}/metadata`)).toEqual([404, "repo.entityNotFound"]);
      expect(await status("POST", `${owner}/metadata`, [{ key: "a" }])).toEqual([404, "repo.entityNotFound"]);
      expect(await status("PUT", `${owner}/metadata/a`, { value: "x" })).toEqual([404, "repo.entityNotFound"]);
    }
    expect(await status("POST", `/distributionsets/${invalid}/metadata`, [{ key: "a", value: "1" }])).toEqual([201]);
    await fixture.rows("update distribution_sets set valid = false where id = $1", [invalid]);
    for (const [method, tail, body] of [
      ["POST", "", [{ key: "b" }]],
      ["PUT", "/a", { value: "x" }],
      ["DELETE", "/a", undefined],
    ] as const) {
      expect(await status(method, `/distributionsets/${invalid}/metadata${tail}`, body)).toEqual([400, "distributionset.invalid"]);
    }
    expect((await ask("GET", `/distributionsets/${invalid}/metadata`)).body.content).toEqual([{ key: "a", value: "1" }]);
  });

  test("no owner has more entries than the quota, however many are added at once", async () => {
    const moduleId = await module("quota");
    const path = `/softwaremodules/${moduleId}/metadata`;
    const entries = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => ({ key: `${prefix}${i}` }));
    expect(await status("POST", path, entries("a", quotaDefaults.METADATA_PER_SOFTWARE_MODULE_MAX_COUNT - 3))).toEqual([201]);
    expect(await status("POST", path, entries("b", 4))).toEqual([quota, "quota.tooManyEntries"]);
    const answers = await Promise.all(["c", "d", "e"].map((prefix) => status("POST", path, entries(prefix, 2))));
    expect(answers.filter(([code]) => code === 201)).toHaveLength(1);
    expect((await ask("GET", path)).body.total).toBe(quotaDefaults.METADATA_PER_SOFTWARE_MODULE_MAX_COUNT - 1);
  });

  test("the limit of the tenant counts, 0 is no limit, and one below the stored entries deletes none", async () => {
    const [moduleId, setId] = [await module("limit"), await set("limit", [])];
    for (const [key, path] of [
      ["METADATA_PER_SOFTWARE_MODULE_MAX_COUNT", `/softwaremodules/${moduleId}/metadata`],
      ["METADATA_PER_DISTRIBUTION_SET_MAX_COUNT", `/distributionsets/${setId}/metadata`],
    ] as const) {
      await fixture.setQuota(key, 0);
      expect(
        await status(
          "POST",
          path,
          Array.from({ length: 101 }, (_, n) => ({ key: `k${n}` })),
        ),
      ).toEqual([201]);
      await fixture.setQuota(key, 5);
      const { status: code, body } = await ask("POST", path, [{ key: "x" }, { key: "y" }]);
      expect([code, body.message]).toEqual([
        quota,
        expect.stringMatching(/^Quota exceeded: Cannot assign 2 more Metadata entities to .* The maximum is 5\.$/),
      ]);
      expect(await status("PUT", `${path}/k100`, { value: "v" })).toEqual([changed]);
      expect(await status("POST", path, [])).toEqual([201]);
      expect((await ask("GET", path)).body.total).toBe(101);
      expect((await ask("GET", `/system/quotas/${key}`)).body).toMatchObject({ limit: 5, used: 101 });
      await fixture.setQuota(key, null);
    }
  });

  test("an upload, a change of metadata and a deletion of the module at once do not deadlock", async () => {
    const moduleId = await module("busy");
    const setId = await set("busy", [moduleId]);
    const path = `/softwaremodules/${moduleId}/metadata`;
    await ask("POST", path, [{ key: "a", value: "0" }]);
    const writes = Array.from({ length: 8 }, (_, n) => status("PUT", `${path}/a`, { value: `${n}` }));
    const removal = status("DELETE", `/distributionsets/${setId}/assignedSM/${moduleId}`);
    const answers = await Promise.all([...writes, removal, status("DELETE", `/softwaremodules/${moduleId}`)]);
    for (const [code] of answers) expect([changed, emptied, 404]).toContain(code);
  });
});
