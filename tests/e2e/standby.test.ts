import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isForStandby, routes } from "@harrier/contracts";
import { type EmbeddedPostgres, freePort, type Stack, startPostgres } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counterOf } from "./support/metrics.ts";
import { adminOf, gatewayUrls, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";
import { HotStandby } from "./support/standby.ts";

// Lists are read on a hot standby that really streams, through two gateways and two replicas of management.

const dir = mkdtempSync(join(tmpdir(), "harrier-primary-"));
let primary: EmbeddedPostgres;
let standby: HotStandby;
let stack: Stack;

beforeAll(async () => {
  // what it answers is on its disk, as in production: so the standby gets it at once
  primary = await startPostgres({ dataDir: dir });
  const port = await freePort();
  standby = new HotStandby(primary, port);
  const of = (role: string) => ({ HARRIER_STANDBY_DATABASE_URL: `postgres://${role}@127.0.0.1:${port}/postgres` });
  stack = await startAnsweringStack({
    database: primary.url,
    replicas: { gateway: 2, management: 2 },
    envOf: { management: of("harrier_management"), "rollout-engine": of("harrier_rollout_engine") },
  });
});
afterAll(async () => {
  await stack?.stop();
  await standby?.remove();
  await primary?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const reads = (from: string): Promise<number> =>
  counterOf([...replicasOf(stack, "management"), ...replicasOf(stack, "rollout-engine")], "harrier_standby_reads_total", { from });

/** Creates a target through one gateway and lists it through the other; answers how many targets of that name are listed. */
async function listedAfterCreation(): Promise<number> {
  const [one, other] = gatewayUrls(stack).map((url) => adminOf(stack, url));
  const name = uniqueName("written");
  await one?.createTarget({ controllerId: name });
  return (await other?.get<{ total: number }>(`targets?q=${encodeURIComponent(`controllerId==${name}`)}`))?.total ?? -1;
}

/** Waits until lists come from the standby. */
async function standbyIsUsed(): Promise<void> {
  await eventually(async () => {
    const before = await reads("standby");
    await adminOf(stack).get("targets");
    expect(await reads("standby")).toBeGreaterThan(before);
  });
}

describe("lists on a standby", () => {
  test("without the standby that is set, the primary reads them", async () => {
    expect(await listedAfterCreation()).toBe(1);
    expect(await reads("standby")).toBe(0);
    expect(await reads("unreachable")).toBeGreaterThan(0);
  });

  test("a list shows what was written before, through whichever replica", async () => {
    await standby.copy();
    await standby.start();
    await standbyIsUsed();
    const before = await reads("standby");
    for (let n = 0; n < 40; n += 1) expect(await listedAfterCreation()).toBe(1);
    expect((await reads("standby")) - before).toBeGreaterThan(0);
    const sessions = await standby.run<{ application_name: string }>(
      "select distinct application_name from pg_stat_activity where application_name like 'harrier/%'",
    );
    expect(sessions.map(({ application_name }) => application_name)).toContain("harrier/management/standby");
  });

  test("the standby refuses no list that it may read, of either service", async () => {
    await standbyIsUsed();
    const admin = adminOf(stack);
    const before = { refused: await reads("refused"), standby: await reads("standby") };
    const paths = routes.filter((row) => isForStandby(row) && !row.path.includes(":")).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(["/targets", "/actions", "/rollouts", "/targetfilters", "/distributionsets", "/users"]));
    // some want parameters of their own, and answer 400 without
    for (const path of paths) expect((await admin.call(path.slice(1))).status, path).toBeLessThan(500);
    expect(await reads("refused")).toBe(before.refused);
    expect(await reads("standby")).toBeGreaterThan(before.standby);
  });

  test("a standby far behind is not read, and is read again once it has caught up", async () => {
    await standbyIsUsed();
    await standby.run("select pg_wal_replay_pause()");
    const [behind, used] = [await reads("behind"), await reads("standby")];
    for (let n = 0; n < 5; n += 1) expect(await listedAfterCreation()).toBe(1);
    expect(await reads("behind")).toBeGreaterThan(behind);
    expect(await reads("standby")).toBe(used);
    await standby.run("select pg_wal_replay_resume()");
    await standbyIsUsed();
  });

  test("no list fails while the standby is killed and comes back", async () => {
    await standbyIsUsed();
    let over = false;
    let listed = 0;
    const listing = gatewayUrls(stack).map(async (url) => {
      const admin = adminOf(stack, url);
      while (!over) {
        await admin.get("targets?q=name==w*&limit=5");
        listed += 1;
      }
    });
    try {
      await standby.kill();
      const then = listed;
      await eventually(() => expect(listed).toBeGreaterThan(then + 10));
      await standby.start();
      await standbyIsUsed();
    } finally {
      over = true;
      await Promise.all(listing);
    }
  });

  test("a standby that was promoted has a history of its own, and is not read any more", async () => {
    await standbyIsUsed();
    await standby.run("select pg_promote()");
    const used = await reads("standby");
    for (let n = 0; n < 5; n += 1) expect(await listedAfterCreation()).toBe(1);
    expect(await reads("standby")).toBe(used);
  });
});
