import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

let fixture: Fixture;
let http: HttpFixture;
let setIds: number[];
beforeAll(async () => {
  fixture = await managementFixture();
  http = await httpFixture(fixture);
  const { body } = await http.call("POST", "/rest/v1/distributionsets", {
    body: ["a", "b", "c"].map((name) => ({ name, version: "1", type: "os" })),
  });
  setIds = body.map(({ id }: { id: number }) => id);
});
afterAll(async () => {
  await http.close();
  await fixture.close();
});

const get = async (path: string, options: Parameters<HttpFixture["call"]>[2] = {}, base = "/rest/v1") =>
  (await http.call("GET", `${base}/insights${path}`, options)).body;
const month = (back: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7);
};
const ago = (back: number): string => `${month(back)}-01`;
const contentOf = async (path: string, back: number) => (await get(`${path}?startMonth=${month(back)}`)).content;

/** The counting began two months ago, and the tenant is older. */
beforeEach(async () => {
  const { tenantId } = fixture;
  await fixture.rows("update tenants set created_at = $2 where tenant_id = $1", [tenantId, ago(6)]);
  await fixture.asController("update monthly_counts_folded set began_at = $1::timestamptz + interval '9 days'", [ago(2)]);
  await fixture.asRolloutEngine("update rollout_months_start set began_at = $1::timestamptz + interval '9 days'", [ago(2)]);
  for (const table of ["monthly_counts", "fleet_counts", "fleet_walks"]) await fixture.asController(`truncate ${table}`);
  await fixture.asRolloutEngine("truncate rollout_months");
});

describe.each(["/data-traffic", "/artifact-storage", "/targets/monthly", "/rollouts/monthly", "/actions/monthly"])(
  "management 10.6 months of %s",
  (path) => {
    test("twelve unless others are asked for, in their order, each once", async () => {
      const { content } = await get(path);
      expect(content.map((one: { month: string }) => one.month)).toEqual(Array.from({ length: 12 }, (_, n) => month(11 - n)));
      expect((await get(`${path}?startMonth=2020-01&endMonth=2020-03`, {}, "/api/mgmt/v1")).content).toEqual(
        ["2020-01", "2020-02", "2020-03"].map((one) => ({ month: one, coverage: "none" })),
      );
    });

    test("cost one round trip", async () => {
      await get(path);
      expect(await fixture.roundTrips.during(() => get(path))).toBe(1);
    });

    test.each(["startMonth=2026-13", "endMonth=2026-1", "startMonth=2026-02&endMonth=2026-01", "startMonth=1990-01", "endMonth=x"])(
      "%s is refused",
      async (query) => {
        const { status, body } = await http.call("GET", `/rest/v1/insights${path}?${query}`);
        expect([status, body.errorCode]).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
      },
    );
  },
);

describe("management 10.6 what is known of a month", () => {
  test("traffic is zero where nothing was sent, and unknown before the tenant", async () => {
    await fixture.database
      .db("artifact-store")
      .pool.query("insert into data_traffic (tenant_id, month, slot, bytes) values ($1, $2, 1, 5), ($1, $2, 2, 7)", [
        fixture.tenantId,
        ago(1),
      ]);
    expect(await contentOf("/data-traffic", 7)).toEqual([
      { month: month(7), coverage: "none" },
      ...[6, 5, 4, 3, 2].map((n) => ({ month: month(n), coverage: "full", bytes: 0 })),
      { month: month(1), coverage: "full", bytes: 12 },
      { month: month(0), coverage: "full", bytes: 0 },
    ]);
  });

  test("storage is what the last change of a month has left, and stays so until the next one", async () => {
    const { tenantId } = fixture;
    await fixture.rows("update tenants set artifact_bytes = 100 where tenant_id = $1", [tenantId]);
    await fixture.rows("update artifact_storage_months set month = $2 where tenant_id = $1", [tenantId, ago(3)]);
    await fixture.rows("update tenants set artifact_bytes = 70 where tenant_id = $1", [tenantId]);
    await fixture.rows("update artifact_storage_months set month = $2 where tenant_id = $1 and month = $3", [tenantId, ago(1), ago(0)]);
    expect(await contentOf("/artifact-storage", 4)).toEqual([
      { month: month(4), coverage: "none" },
      { month: month(3), coverage: "full", bytes: 100 },
      { month: month(2), coverage: "full", bytes: 100 },
      { month: month(1), coverage: "full", bytes: 70 },
      { month: month(0), coverage: "full", bytes: 70 },
    ]);
    await fixture.rows("update tenants set artifact_bytes = 71 where tenant_id = $1", [tenantId]);
    expect((await contentOf("/artifact-storage", 0))[0]).toMatchObject({ bytes: 71 });
  });

  test("of the time before storage was recorded nothing is known", async () => {
    await fixture.rows("delete from artifact_storage_months where tenant_id = $1", [fixture.tenantId]);
    expect(await contentOf("/artifact-storage", 1)).toEqual([1, 0].map((n) => ({ month: month(n), coverage: "none" })));
    await fixture.rows("insert into artifact_storage_months (tenant_id, month, bytes) values ($1, $2, 1111)", [fixture.tenantId, ago(2)]);
    expect(await contentOf("/artifact-storage", 4)).toEqual([
      ...[4, 3].map((n) => ({ month: month(n), coverage: "none" })),
      ...[2, 1, 0].map((n) => ({ month: month(n), coverage: "full", bytes: 1111 })),
    ]);
  });

  test("targets are those of the end of a month; of the time before the counting nothing is known", async () => {
    await fixture.asController(
      "insert into monthly_counts (tenant_id, month, targets_created, targets_deleted) values ($1, $2, 4, 1), ($1, $3, 10, 0)",
      [fixture.tenantId, ago(2), ago(0)],
    );
    await fixture.asController(
      "insert into target_counts (tenant_id, slot, n) values ($1, 1, 18) on conflict (tenant_id, slot) do update set n = 18",
      [fixture.tenantId],
    );
    expect(await contentOf("/targets/monthly", 5)).toEqual([
      ...[5, 4, 3].map((n) => ({ month: month(n), coverage: "none" })),
      { month: month(2), coverage: "full", count: 8 },
      { month: month(1), coverage: "full", count: 8 },
      { month: month(0), coverage: "full", count: 18 },
    ]);
    await fixture.asController("delete from target_counts");
  });

  test("rollouts and actions of the month in which the counting began are a part of it", async () => {
    await fixture.asRolloutEngine("insert into rollout_months (tenant_id, month, created) values ($1, $2, 2), ($1, $3, 5)", [
      fixture.tenantId,
      ago(2),
      ago(1),
    ]);
    expect(await contentOf("/rollouts/monthly", 4)).toEqual([
      ...[4, 3].map((n) => ({ month: month(n), coverage: "none" })),
      { month: month(2), coverage: "partial", count: 2 },
      { month: month(1), coverage: "full", count: 5 },
      { month: month(0), coverage: "full", count: 0 },
    ]);
    await fixture.asController(
      `insert into monthly_counts (tenant_id, month, actions_created, actions_finished, actions_error, actions_canceled)
       values ($1, $2, 9, 4, 3, 1), ($1, $3, 0, 0, 0, 1)`,
      [fixture.tenantId, ago(1), ago(2)],
    );
    const none = { finished: 0, error: 0, canceled: 0 };
    expect(await contentOf("/actions/monthly", 4)).toEqual([
      ...[4, 3].map((n) => ({ month: month(n), coverage: "none" })),
      { month: month(2), coverage: "partial", count: 0, perStatus: { ...none, canceled: 1 } },
      { month: month(1), coverage: "full", count: 9, perStatus: { finished: 4, error: 3, canceled: 1 } },
      { month: month(0), coverage: "full", count: 0, perStatus: none },
    ]);
  });
});

describe("management 10.6 the present", () => {
  const count = (kind: number, key: number, typeId: number, n: number) =>
    fixture.asController("insert into fleet_counts (tenant_id, kind, key, type_id, n) values ($1, $2, $3, $4, $5)", [
      fixture.tenantId,
      kind,
      key,
      typeId,
      n,
    ]);
  const none = { unknown: 0, registered: 0, pending: 0, in_sync: 0, error: 0 };
  const ofType = { scopes: { READ_TARGET: [7] } };

  test("targets by update status as they were counted last; a restricted user has those of its types", async () => {
    expect(await get("/targets/current")).toEqual({ total: 0, perUpdateStatus: none, overdue: 0 });
    await fixture.asController("insert into fleet_walks (tenant_id, counted_at) values ($1, '2026-01-01Z')", [fixture.tenantId]);
    await count(0, 0, 0, 4);
    await count(0, 3, 0, 5);
    await count(0, 3, 7, 2);
    await count(3, 0, 0, 1);
    await count(3, 0, 7, 1);
    const countedAt = Date.parse("2026-01-01T00:00:00Z");
    expect(await get("/targets/current")).toEqual({
      total: 11,
      perUpdateStatus: { ...none, unknown: 4, in_sync: 7 },
      overdue: 2,
      countedAt,
    });
    expect(await get("/targets/current", ofType)).toEqual({ total: 2, perUpdateStatus: { ...none, in_sync: 2 }, overdue: 1, countedAt });
    expect(await fixture.roundTrips.during(() => get("/targets/current"))).toBe(1);
  });

  test("the sets that most targets have; of equal numbers the newest first", async () => {
    const [a = 0, b = 0, c = 0] = setIds;
    for (const [kind, id, type, n] of [
      [1, a, 0, 3],
      [1, b, 7, 2],
      [1, b, 0, 2],
      [1, c, 0, 3],
      [2, c, 0, 1],
    ] as const)
      await count(kind, id, type, n);
    const named = (id: number, n: number) => ({ id, name: "abc"[setIds.indexOf(id)], version: "1", count: n });
    expect(await get("/distributionsets/top-installed")).toEqual([named(b, 4), named(c, 3), named(a, 3)]);
    expect(await get("/distributionsets/top-installed?top=1")).toEqual([named(b, 4)]);
    expect(await get("/distributionsets/top-installed?top=0")).toHaveLength(3);
    expect(await get("/distributionsets/top-installed", ofType)).toEqual([named(b, 2)]);
    expect(await get("/distributionsets/top-assigned?top=1000")).toEqual([named(c, 1)]);
    expect(await fixture.roundTrips.during(() => get("/distributionsets/top-assigned"))).toBe(1);
  });

  test("rollouts by status, without those that are deleted", async () => {
    const rollout = (id: number, status: string, types: number[] | null, deleted = false) =>
      fixture.asRolloutEngine(
        `insert into rollouts (tenant_id, id, name, status, target_filter, set_id, set_name, set_version, set_type_id, migration_step,
                               force_type, reached_types, deleted, created_by, last_modified_by)
         values ($1, $2, 'r' || $2::bigint, $3, 'name==*', 1, 's', '1', 1, false, 1, $4, $5, 'x', 'x')`,
        [fixture.tenantId, id, status, types, deleted],
      );
    await rollout(11, "running", [7]);
    await rollout(12, "running", [0, 7]);
    await rollout(13, "finished", null);
    await rollout(14, "deleted", [7], true);
    const { total, perStatus } = await get("/rollouts/current");
    expect([total, perStatus.running, perStatus.finished, perStatus.paused, perStatus.deleted]).toEqual([3, 2, 1, 0, undefined]);
    expect(await get("/rollouts/current", ofType)).toMatchObject({ total: 1, perStatus: { running: 1, finished: 0 } });
  });

  test("versions by day: the sets that most had on one of the days, the others together, and nothing of days that were not counted", async () => {
    const [a = 0, b = 0, c = 0] = setIds;
    const { tenantId } = fixture;
    for (const day of ["2026-01-01", "2026-01-02", "2026-01-04"]) {
      await fixture.asController(
        "insert into fleet_day_walks (tenant_id, day, counted_at) values ($1, $2::date, ($2::date + time '23:59') at time zone 'UTC')",
        [tenantId, day],
      );
    }
    for (const [day, key, type, n] of [
      ["2026-01-01", a, 0, 3],
      ["2026-01-01", b, 7, 2],
      ["2026-01-02", a, 0, 1],
      ["2026-01-02", b, 7, 4],
      ["2026-01-02", c, 0, 2],
      ["2026-01-02", 0, 0, 5],
    ] as const) {
      const values = [tenantId, day, key, type, n];
      await fixture.asController("insert into fleet_days (tenant_id, kind, day, key, type_id, n) values ($1, 1, $2, $3, $4, $5)", values);
      await fixture.asController(
        "insert into fleet_days (tenant_id, kind, day, key, type_id, n) values ($1::int + 77, 1, $2, $3, $4, $5)",
        values,
      );
    }
    const path = "/versions?startDay=2026-01-01&endDay=2026-01-04&top=2";
    const counted = (day: string, total: number, other: number, counts: [number, number][]) => ({
      ...{ day, coverage: "full", countedAt: Date.parse(`${day}T23:59:00Z`), total, other },
      counts: counts.map(([id, n]) => ({ id, count: n })),
    });
    const named = (id: number) => ({ id, name: "abc"[setIds.indexOf(id)], version: "1" });
    expect(await get(path)).toEqual({
      ...{ by: "installedds", step: "day", sets: [named(b), named(a)] },
      content: [
        counted("2026-01-01", 5, 0, [
          [a, 3],
          [b, 2],
        ]),
        counted("2026-01-02", 12, 7, [
          [b, 4],
          [a, 1],
        ]),
        { day: "2026-01-03", coverage: "none" },
        counted("2026-01-04", 0, 0, []),
      ],
    });
    const restricted = await get(path, ofType);
    expect(restricted.sets).toEqual([named(b)]);
    expect(restricted.content.map(({ total }: { total?: number }) => total)).toEqual([2, 4, undefined, 0]);
    expect((await get(`${path}&by=assignedds`)).sets).toEqual([]);
    expect(await fixture.roundTrips.during(() => get(path))).toBe(1);
    for (const table of ["fleet_days", "fleet_day_walks"]) await fixture.asController(`truncate ${table}`);
  });

  test("figures of another tenant are in none of them", async () => {
    await fixture.asController("insert into fleet_counts (tenant_id, kind, key, type_id, n) values (77, 0, 1, 0, 5), (77, 1, $1, 0, 5)", [
      setIds[0],
    ]);
    await fixture.asController("insert into monthly_counts (tenant_id, month, actions_created) values (77, $1, 5)", [ago(0)]);
    expect((await get("/targets/current")).total).toBe(0);
    expect(await get("/distributionsets/top-installed")).toEqual([]);
    expect((await contentOf("/actions/monthly", 0))[0].count).toBe(0);
  });
});

test("management 10.6 each needs its permission", async () => {
  for (const path of ["/data-traffic", "/artifact-storage", "/targets/current", "/targets/monthly"]) {
    expect((await http.call("GET", `/rest/v1/insights${path}`, { permissions: ["READ_REPOSITORY"] })).status).toBe(403);
  }
  for (const path of ["/rollouts/current", "/rollouts/monthly", "/actions/monthly", "/distributionsets/top-installed", "/versions"]) {
    expect((await http.call("GET", `/rest/v1/insights${path}`, { permissions: ["READ_TARGET"] })).status).toBe(403);
  }
});
