import type { Stack } from "@harrier/stack";
import { eventually, uniqueName, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, replicasOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// Target filters continue to assign, whatever process dies meanwhile, and no target gets a set twice (contract management.md §5.8).

const fleet = 200;
const deaths: string[] = [];
let stack: Stack;

beforeAll(async () => {
  const print = (line: string) => {
    const name = /^\[(.+)\] ended \(SIGKILL\)/.exec(line)?.[1];
    if (name !== undefined) deaths.push(name);
  };
  stack = await startAnsweringStack({ replicas: { controller: 2, "rollout-engine": 2 }, print });
});
afterAll(() => stack?.stop());

/** Counts the targets by how many actions of the set they have, and the actions whose history does not match them. */
async function actionsOf(setId: number): Promise<{ perTarget: Record<string, number>; broken: number }> {
  return withClient(stack.adminDatabaseUrl as string, async (client) => {
    const { rows } = await client.query(
      `select n, count(*)::int as targets, sum(broken)::int as broken
         from (select count(*)::int as n, count(*) filter (where a.revision <> (
                        select count(*) from controller.action_statuses_v1 h where h.tenant_id = a.tenant_id and h.action_id = a.id)) as broken
                 from controller.actions a where a.set_id = $1 group by a.target_id) t group by n`,
      [setId],
    );
    return {
      perTarget: Object.fromEntries(rows.map((row) => [row.n, row.targets])),
      broken: rows.reduce((sum, row) => sum + row.broken, 0),
    };
  });
}

test("kill -9 after each step of an auto-assignment: every matching target, old or new, has exactly one action", async () => {
  const admin = adminOf(stack);
  const filters = await Promise.all(
    ["first", "second", "third"].map(async (name) => {
      const prefix = uniqueName(name);
      await admin.createTargets(fleet, prefix);
      const { set } = await admin.createSetWithFile(`for ${name}`);
      const { id } = await admin.post<{ id: number }>("targetfilters", { name: prefix, query: `controllerid==${prefix}-*` });
      return { id, prefix, setId: set.id };
    }),
  );
  const faults = {
    "rollout-engine": ["auto-assign.after-candidates:2", "auto-assign.after-chunk:1"],
    controller: ["auto-assign-chunk.after-commit:1"],
  };
  for (const [service, points] of Object.entries(faults) as [keyof typeof faults, string[]][]) {
    for (const { index } of replicasOf(stack, service)) {
      const point = points[index % points.length] as string;
      await stack.restart(service, index, `${service}.${point}`);
    }
  }
  await answering(stack);

  for (const { id, setId } of filters) await eventually(() => admin.post(`targetfilters/${id}/autoAssignDS`, { id: setId }), 60_000);
  // The surviving processes find the targets that are created during the kills.
  for (const { prefix } of filters) await eventually(() => admin.createTargets(1, `${prefix}-late`), 60_000);
  await eventually(async () => {
    for (const { setId } of filters) expect(await actionsOf(setId)).toEqual({ perTarget: { 1: fleet + 1 }, broken: 0 });
  }, 180_000);
  expect(deaths).toEqual(expect.arrayContaining([expect.stringContaining("rollout-engine"), expect.stringContaining("controller")]));
  // No target gets a second action from a filter that was processed twice.
  await answering(stack);
  await admin.createTargets(1, `${filters[0]?.prefix}-last`);
  await eventually(async () => {
    const [first, ...others] = await Promise.all(filters.map(({ setId }) => actionsOf(setId)));
    expect(first).toEqual({ perTarget: { 1: fleet + 2 }, broken: 0 });
    for (const other of others) expect(other).toEqual({ perTarget: { 1: fleet + 1 }, broken: 0 });
  }, 120_000);
}, 400_000);
