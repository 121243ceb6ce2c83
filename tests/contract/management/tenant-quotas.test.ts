import { Readable } from "node:stream";
import { type QuotaKey, type QuotaView, quotaDefaults, quotaKeys, routeTable as r } from "@harrier/contracts";
import { multipart } from "@harrier/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiKeyBuilder } from "../support/api-keys.ts";
import { builder, someBytes, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused, urlOf } from "../support/call.ts";
import { device } from "../support/device.ts";
import { credentials, type Identity, send, workAs } from "../support/http.ts";
import { rolloutBuilder } from "../support/rollout.ts";
import { makeTenant, tenantBuilder } from "../support/tenants.ts";
import { eventually, pause } from "../support/wait.ts";

/** Every service knows a new limit within this time. */
const heardMs = 1_500;
const tooMany = "quota.tooManyEntries";

/** Each case has a tenant of its own, whose limits affect nothing else. */
describe.each(dialects)("quotas of a tenant, %s", (dialect) => {
  const build = builder(dialect);
  const { asOperator, setQuota, create } = tenantBuilder(dialect);
  const over = dialect === "spec" ? 403 : 429;
  let own: Identity;
  beforeEach(async () => {
    own = await makeTenant(dialect, 0);
    workAs(own);
  });
  afterEach(() => workAs());

  const limit = async (key: QuotaKey, to: number) => {
    await setQuota(own.tenant, key, to);
    await pause(heardMs);
  };
  const quota = async (key: QuotaKey) => (await call<QuotaView>(r.quotas.get, dialect, { params: { key } })).json;

  it("management 10.3 all quotas and each one show limit and use, and audit members only where a limit was set", async () => {
    const all = (await call<Record<string, QuotaView>>(r.quotas.list, dialect)).json;
    expect(Object.keys(all)).toEqual(quotaKeys);
    for (const key of quotaKeys) expect(all[key]).toMatchObject({ limit: quotaDefaults[key], used: expect.any(Number) });
    expect(all["DSI_API_KEYS_MAX_COUNT"]).not.toHaveProperty("createdBy");
    await setQuota(own.tenant, "DSI_API_KEYS_MAX_COUNT", 3);
    expect(await quota("DSI_API_KEYS_MAX_COUNT")).toMatchObject({ limit: 3, used: 0, createdBy: credentials.adminUser });
    await refused(r.quotas.get, dialect, { params: { key: "NOTHING" } }, [404, "repo.entityNotFound"]);
  });

  it("extensions quotas are set by the operator only, as whole numbers, for existing tenants and keys", async () => {
    const params = { tenantName: own.tenant.toUpperCase(), key: "TARGETS_MAX_COUNT" };
    const set = { params, body: { limit: 5 } };
    const answer = (await call<QuotaView>(r.tenantQuotas.set, dialect, asOperator(set))).json;
    expect(answer).toMatchObject({ limit: 5, used: 0, lastModifiedBy: credentials.adminUser });
    expect((await call<QuotaView>(r.tenantQuotas.get, dialect, asOperator({ params }))).json).toEqual(answer);
    const all = (await call<Record<string, QuotaView>>(r.tenantQuotas.list, dialect, asOperator({ params }))).json;
    expect(all["TARGETS_MAX_COUNT"]).toEqual(answer);
    for (const options of [{ ...set }, { ...set, params: { ...params, tenantName: "DEFAULT" } }])
      await refused(r.tenantQuotas.set, dialect, { ...options, auth: own.admin }, [403, "insufficientPermission"]);
    const not = (more: CallOptions, expected: readonly [number, string]) =>
      refused(r.tenantQuotas.set, dialect, asOperator({ ...set, ...more }), expected);
    for (const body of [{}, { limit: null }, { limit: 2 ** 31 }]) await not({ body }, [400, "repo.constraintViolation"]);
    for (const value of [1.5, "five", true, [], 1e300]) await not({ body: { limit: value } }, [400, "rest.body.notReadable"]);
    await not({ params: { ...params, key: "NOTHING" } }, [404, "repo.entityNotFound"]);
    await not({ params: { ...params, tenantName: unique("tenant") } }, [404, "repo.entityNotFound"]);
    expect((await quota("TARGETS_MAX_COUNT")).limit).toBe(5);
    // The quotas of other tenants do not change.
    const key = "TARGETS_MAX_COUNT";
    const { name } = await create();
    expect((await call<QuotaView>(r.tenantQuotas.get, dialect, asOperator({ params: { tenantName: name, key } }))).json.limit).toBe(0);
  });

  it("management 10.3 the use of the quota of target metadata is the maximum over the targets", async () => {
    const [one, two] = [await build.target(), await build.target()];
    const add = ({ controllerId: targetId }: { controllerId: string }, keys: string[]) =>
      call(r.targets.createMetadata, dialect, { params: { targetId }, body: keys.map((key) => ({ key, value: "v" })) });
    await add(one, ["a", "b", "c"]);
    await add(two, ["a"]);
    await eventually(async () => (await quota("METADATA_PER_TARGET_MAX_COUNT")).used === 3, 60_000);
    await call(r.targets.delete, dialect, { params: { targetId: one.controllerId } });
    await eventually(async () => (await quota("METADATA_PER_TARGET_MAX_COUNT")).used === 1, 60_000);
  });

  it("device 13.20 a registration beyond the quota of targets is 403 with the known message; known targets go on", async () => {
    await limit("TARGETS_MAX_COUNT", 1);
    const known = device(unique("known"));
    await known.poll();
    const late = device(unique("late"));
    const { json } = await late.refused(r.device.poll, {}, [403, tooMany]);
    expect(json.message).toContain("The maximum is 1.");
    await known.poll();
    await refused(r.targets.create, dialect, { body: [{ controllerId: unique("made") }] }, [over, tooMany]);
    await limit("TARGETS_MAX_COUNT", 0);
    await late.poll();
    await eventually(async () => (await quota("TARGETS_MAX_COUNT")).used === 2);
  });

  it("management 12.40 too large files, too large storage and too many files each have a code of their own", async () => {
    const { id } = await build.module();
    const notStored = async (size: number, code: string) => {
      const { type, body } = multipart([{ filename: unique("file"), bytes: someBytes(size) }]);
      const options = { params: { softwareModuleId: id }, body, headers: { "content-type": type } };
      await refused(r.artifacts.upload, dialect, options, [over, code]);
    };
    await limit("ARTIFACT_MAX_BYTES", 1_000);
    await notStored(1_001, "quota.fileSizeExceeded");
    await build.upload(id, someBytes(1_000));
    await setQuota(own.tenant, "ARTIFACT_STORAGE_MAX_BYTES", 1_999);
    await notStored(1_000, "quota.storageExceeded");
    await build.upload(id, someBytes(999));
    await setQuota(own.tenant, "ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT", 2);
    await setQuota(own.tenant, "ARTIFACT_STORAGE_MAX_BYTES", -1);
    await notStored(10, tooMany);
    await setQuota(own.tenant, "ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT", 3);
    await build.upload(id, someBytes(10));
    expect((await quota("ARTIFACT_STORAGE_MAX_BYTES")).used).toBe(2_009);
    expect((await quota("ARTIFACT_MAX_BYTES")).used).toBe(1_000);
  });

  it("bad input: whoever sends a file beyond the limit reads why, however much of it is sent and how fast, and whether or not its length is said", async () => {
    await limit("ARTIFACT_MAX_BYTES", 1_000);
    const { id } = await build.module();
    const { type, body } = multipart([{ filename: unique("file"), bytes: someBytes(64 * 2 ** 20) }]);
    const pieces = Array.from({ length: 65 }, (_, n) => body.subarray(n * 2 ** 20, (n + 1) * 2 ** 20));
    const path = urlOf(r.artifacts.upload, dialect, { params: { softwareModuleId: id } });
    const headers = { authorization: own.admin, "content-type": type };
    for (const sent of [body, Readable.from(pieces), body, Readable.from(pieces)]) {
      const { status, json } = await send<{ errorCode: string }>(path, { method: "POST", headers, body: sent });
      expect([status, json?.errorCode]).toEqual([over, "hawkbit.server.error.quota.fileSizeExceeded"]);
    }
  });

  it("management 12.96, 12.138 the number of assignments in a request and of API keys follows its limit at once", async () => {
    const keys = apiKeyBuilder(dialect);
    await setQuota(own.tenant, "DSI_API_KEYS_MAX_COUNT", 1);
    await keys.create();
    await refused(r.apiKeys.create, dialect, { body: keys.body({}) }, [over, tooMany]);
    expect(await quota("DSI_API_KEYS_MAX_COUNT")).toMatchObject({ limit: 1, used: 1 });

    await setQuota(own.tenant, "ASSIGNMENTS_PER_REQUEST_MAX_COUNT", 1);
    const [set, [a, b]] = await Promise.all([build.set(), build.targets({}, {})]);
    const body = [{ id: a?.controllerId }, { id: b?.controllerId }];
    const params = { distributionSetId: set.id };
    await refused(r.distributionSets.assignTargets, dialect, { params, body }, [over, tooMany]);
    await call(r.distributionSets.assignTargets, dialect, { params, body: body.slice(0, 1) });
  });

  it("rollouts 10.19 too many groups, and groups of too many targets, are denied", async () => {
    const { fleet, create: rollout, notCreated } = rolloutBuilder(dialect);
    const { prefix } = await fleet(6);
    await limit("ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT", 3);
    await notCreated(prefix, { amountGroups: 4 }, [over, tooMany]);
    await limit("TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT", 2);
    await notCreated(prefix, { amountGroups: 2 }, [over, tooMany]);
    await notCreated(prefix, { groups: [{ name: "all", targetPercentage: 100 }] }, [over, tooMany]);
    await rollout(prefix, { amountGroups: 3 });
    await limit("TARGETS_PER_ROLLOUT_GROUP_MAX_COUNT", 0);
    await rollout(prefix, { amountGroups: 2 });
  });

  it("extensions quotas: downloads of a device are 403 when the data volume of the month is used up", async () => {
    const { set, moduleId, artifact } = await build.setWithArtifact(someBytes(1_000));
    const { controllerId } = await build.target();
    await build.assign(set.id, controllerId);
    const d = device(controllerId);
    const file = { softwareModuleId: moduleId, fileName: artifact.providedFilename };
    await limit("DATA_TRAFFIC_PER_MONTH_MAX_BYTES", 1_500);
    const statusOf = async (route: typeof r.device.artifact | typeof r.device.artifactDownload) => (await d.ask(route, file)).status;
    expect([await statusOf(r.device.artifact), await statusOf(r.device.artifactDownload)]).toEqual([200, 200]);
    await eventually(async () => (await quota("DATA_TRAFFIC_PER_MONTH_MAX_BYTES")).used >= 2_000);
    for (const route of [r.device.artifact, r.device.artifactDownload, r.device.artifactMd5])
      await d.refused(route, file, [403, "quota.dataVolumeExceeded"]);
    // Users may still download, and devices can do everything except downloading.
    const params = { softwareModuleId: moduleId, artifactId: artifact.id };
    expect((await call(r.artifacts.download, dialect, { params })).bytes.length).toBe(1_000);
    await d.poll();
    await limit("DATA_TRAFFIC_PER_MONTH_MAX_BYTES", 0);
    expect(await statusOf(r.device.artifact)).toBe(200);
  });
});
