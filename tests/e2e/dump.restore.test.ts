import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventPage } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { createDevice, eventually, startTestStack, workspaceRoot } from "@harrier/testkit";
import { afterAll, expect, it } from "vitest";
import { type Cluster, postgresPrograms, startCluster } from "./support/postgres-cluster.ts";
import { adminOf, allowTargetTokens } from "./support/replicas.ts";

// docs/operations.md, "A dump in a new cluster", done step by step with the programs of an operator, in the middle of a rollout.
const dataDir = mkdtempSync(join(tmpdir(), "harrier-restore-"));
const open: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const one of open.toReversed()) await one.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (cluster: Cluster): Promise<Stack> => {
  const stack = await startTestStack({ dataDir, database: cluster.url, startLimitMs: 60_000 });
  open.push(stack);
  return stack;
};
const newCluster = async (): Promise<Cluster> => {
  const cluster = await startCluster(await postgresPrograms());
  open.push(cluster);
  return cluster;
};

/** The statements of the documentation, beyond this transaction. */
function advance(cluster: Cluster, beyond: string): void {
  const text = readFileSync(join(workspaceRoot, "docs", "operations.md"), "utf8");
  const [, sql = ""] = /```sql\n([\s\S]*?)```/.exec(text.slice(text.indexOf("### A dump in a new cluster"))) ?? [];
  const parts = sql.replace(/'\d+'::xid8/, `'${beyond}'::xid8`).split(/(?<=off;)\n/);
  cluster.run("psql", "-v", "ON_ERROR_STOP=1", "-d", "harrier", ...parts.flatMap((part) => ["-c", part.trim()]));
}

/** Starts in the new cluster; whenever a service names a transaction, advances beyond it. Answers how often that was necessary. */
async function startAfterRepair(cluster: Cluster): Promise<{ stack: Stack; repairs: number }> {
  for (let repairs = 0; ; repairs += 1) {
    const result = await start(cluster).catch((error: Error) => error.message);
    if (typeof result !== "string") return { stack: result, repairs };
    const named = /younger than its rows: they know of transaction (\d+)/.exec(result)?.[1];
    if (named === undefined || repairs > 4) throw new Error(result);
    advance(cluster, named);
  }
}

it("a rollout, events and tokens go on after pg_dump and pg_restore into a new cluster", { timeout: 900_000 }, async () => {
  const old = await newCluster();
  advance(old, "60000"); // a cluster that has lived
  const before = await start(old);
  await allowTargetTokens(before);
  const api = adminOf(before);
  const { set } = await api.createSetWithFile("the firmware\n");
  const targets = await api.createTargets(40, "field");
  const fields = {
    targetFilterQuery: "controllerId==field-*",
    amountGroups: 4,
    successCondition: { condition: "THRESHOLD", expression: "100" },
  };
  const { id } = await api.createRollout(set.id, fields);
  await api.rolloutIs(id, "ready");
  await api.startRollout(id);
  await api.rolloutIs(id, "running");
  /** Each device that is offered the update ends it; answers how many did. */
  const work = async (stack: Stack): Promise<number> => {
    const done = targets.map(async ({ controllerId, securityToken }): Promise<number> => {
      const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
      const deployment = await device.deployment();
      if (deployment === undefined) return 0;
      const file = deployment.deployment.chunks[0]?.artifacts[0];
      if (file !== undefined) expect((await device.download(file)).bytes.toString()).toBe("the firmware\n");
      return (await device.report(deployment.id, "closed", "success")).status === 200 ? 1 : 0;
    });
    return (await Promise.all(done)).reduce((sum, one) => sum + one, 0);
  };
  const cursor = (await api.get<EventPage>("events")).next;
  expect(await work(before)).toBeGreaterThan(0);
  const seen = await eventually(async () => {
    const page = await api.get<EventPage>(`events?after=${encodeURIComponent(cursor)}&limit=500`);
    expect(page.content.length).toBeGreaterThan(9);
    return page;
  });
  const views = [
    "targets?limit=50&sort=id:ASC",
    "distributionsets",
    "softwaremodules",
    `rollouts/${id}/deploygroups`,
    "users",
    "system/configs",
  ];
  const read = async (stack: Stack) => Promise.all(views.map((view) => adminOf(stack).get<{ content?: object[] }>(view)));
  await before.stop();

  const young = await newCluster();
  const dump = join(tmpdir(), `${uniqueDump()}.dump`);
  const roles = `${dump}.sql`;
  try {
    old.run("pg_dumpall", "--globals-only", "--file", roles);
    old.run("pg_dump", "--format=custom", "--file", dump, "harrier");
    young.run("psql", "-d", "postgres", "-f", roles); // it complains of the administrator, who is there already
    young.run("pg_restore", "--exit-on-error", "-d", "harrier", dump);
  } finally {
    for (const file of [dump, roles]) rmSync(file, { force: true });
  }

  const { stack: after, repairs } = await startAfterRepair(young);
  expect(repairs).toBeGreaterThan(0);
  const restored = adminOf(after);
  expect((await read(after)).map(({ content }) => content?.length ?? 1).every((length) => length > 0)).toBe(true);
  // the audit chains are what they were, and events behind the former cursor are the new ones alone
  expect((await restored.call("audit/verify")).status).toBe(200);
  let rounds = 0;
  const finished = await eventually(async () => {
    rounds += 1;
    await work(after);
    const rollout = await restored.getRollout(id);
    expect(rollout.status).toBe("finished");
    return rollout;
  }, 120_000);
  expect([finished.status, finished.totalTargetsPerStatus?.["finished"]]).toEqual(["finished", 40]);
  const ids = new Set(seen.content.map((event) => event.id));
  const fresh = await eventually(async () => {
    const page = await restored.get<EventPage>(`events?after=${encodeURIComponent(seen.next)}&limit=500`);
    expect(page.content.filter(({ data }) => data["status"] === "finished").length).toBeGreaterThan(9);
    return page;
  });
  expect(fresh.content.filter((event) => ids.has(event.id))).toEqual([]);
  // a withdrawn token is known to be withdrawn: the log of credential changes is read beyond its restored position
  const [one] = targets;
  const device = createDevice({ baseUrl: after.baseUrl, controllerId: one?.controllerId ?? "", token: one?.securityToken ?? "" });
  expect((await device.call("")).status).toBe(200);
  await restored.call(`targets/${one?.controllerId}`, { method: "PUT", body: { securityToken: "0123456789abcdef0123456789abcdef" } });
  await eventually(async () => expect((await device.call("")).status).toBe(401));
  console.log(`restored with ${repairs} repairs of the transaction ids; the rollout ended in ${rounds} rounds`);
});

const uniqueDump = (): string => `harrier-${process.pid}-${Date.now()}`;
