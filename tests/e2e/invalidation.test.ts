import type { Stack } from "@harrier/stack";
import { eventually, uniqueName, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, replicasOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// An invalidation continues to its end over all owners, whichever of them dies meanwhile (contract rollouts.md §4.9).

const fleet = 300;
const deaths: string[] = [];
let stack: Stack;

beforeAll(async () => {
  const print = (line: string) => {
    const name = /^\[(.+)\] ended \(SIGKILL\)/.exec(line)?.[1];
    if (name !== undefined) deaths.push(name);
  };
  stack = await startAnsweringStack({ replicas: { controller: 2, management: 2, "rollout-engine": 2 }, print });
});
afterAll(() => stack?.stop());

async function rolloutOf(prefix: string, setId: number): Promise<() => Promise<string>> {
  const admin = adminOf(stack);
  const name = uniqueName("rollout");
  const body = { name, distributionSetId: setId, targetFilterQuery: `name==${prefix}*`, amountGroups: 3 };
  const { id } = await admin.post<{ id: number }>("rollouts", body);
  const status = async () => (await admin.get<{ status: string }>(`rollouts/${id}`)).status;
  await eventually(async () => expect(await status()).toBe("ready"), 30_000);
  await admin.post(`rollouts/${id}/start`);
  await eventually(async () => expect(await status()).toBe("running"), 30_000);
  return status;
}

/** Counts the actions of a set by status, and those whose history has a gap or does not match their revision. */
async function actionsOf(setId: number): Promise<{ statuses: Record<string, number>; broken: number }> {
  return withClient(stack.adminDatabaseUrl as string, async (client) => {
    const { rows } = await client.query(
      `select a.status, count(*)::int as n,
              count(*) filter (where a.revision <> (select count(*) from controller.action_statuses_v1 h
                                                     where h.tenant_id = a.tenant_id and h.action_id = a.id))::int as broken
         from controller.actions a where a.set_id = $1 group by 1`,
      [setId],
    );
    return { statuses: Object.fromEntries(rows.map((row) => [row.status, row.n])), broken: rows.reduce((sum, row) => sum + row.broken, 0) };
  });
}

test("kill -9 after each step of an invalidation by force: rollouts stop, actions are closed, targets are unchanged", async () => {
  const admin = adminOf(stack);
  const [byHand, byRollout] = [uniqueName("hand"), uniqueName("roll")];
  await admin.createTargets(fleet, byHand);
  await admin.createTargets(fleet, byRollout);
  const { set } = await admin.createSetWithFile("to be invalid");
  const items = Array.from({ length: fleet }, (_, n) => ({ id: `${byHand}-${String(n).padStart(4, "0")}` }));
  expect(await admin.post(`distributionsets/${set.id}/assignedTargets`, items)).toMatchObject({ assigned: fleet });
  const status = await rolloutOf(byRollout, set.id);
  // Both faults are armed on both replicas: whichever replica gets a chunk dies of it.
  for (const { index } of replicasOf(stack, "controller")) {
    await stack.restart("controller", index, "controller.stop-chunk.after-commit:1,controller.cancel-set-chunk.after-commit:1");
  }
  for (const { index } of replicasOf(stack, "management")) {
    await stack.restart("management", index, "management.invalidate-set.after-commit:1");
  }
  await answering(stack);

  // The replica that answers dies of it.
  await admin.post(`distributionsets/${set.id}/invalidate`, { actionCancelationType: "force" }).catch(() => undefined);
  await answering(stack);
  await eventually(async () => {
    const { content } = await admin.get<{ content: { status: string; subject: string }[] }>("operations");
    expect(content).toMatchObject([{ kind: "invalidate-set", status: "finished" }]);
  }, 120_000);
  expect(deaths).toEqual(expect.arrayContaining([expect.stringContaining("management"), expect.stringContaining("controller")]));
  expect(await status()).toBe("stopped");
  // A third of the rollout had begun; the other actions are gone without a trace.
  expect(await actionsOf(set.id)).toEqual({ statuses: { 4: fleet + fleet / 3 }, broken: 0 });
  const { total } = await admin.get<{ total: number }>("targets?q=updatestatus==pending");
  expect(total).toBe(0);
  expect(await admin.get(`distributionsets/${set.id}`)).toMatchObject({ valid: false });
}, 240_000);
