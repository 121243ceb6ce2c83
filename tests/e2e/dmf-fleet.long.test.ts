import type { MessagingAccess } from "@harrier/contracts";
import { faultPoints } from "@harrier/service";
import { runFleet, runThings } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { eventually, type RabbitMq, startRabbitMq, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ActionView } from "./dmf/things.ts";
import { allowTargetTokens } from "./support/replicas.ts";
import { resilientAdmin } from "./support/resilient-admin.ts";
import { startAnsweringStack } from "./support/serving.ts";

let broker: RabbitMq;
let stack: Stack;
/** The replicas that ended by themselves, in order: what is ended for a restart is not among them. */
const killed: string[] = [];
beforeAll(async () => {
  broker = await startRabbitMq();
  const print = (line: string): void => {
    const [, replica] = /^\[(dmf-\d)\] ended \(SIGKILL\)/.exec(line) ?? [];
    if (replica !== undefined) killed.push(replica);
    process.stderr.write(`${line}\n`);
  };
  stack = await startAnsweringStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { dmf: 2 }, print });
  await allowTargetTokens(stack);
});
afterAll(async () => {
  await stack?.stop();
  await broker?.stop();
});

const each = 1_000;
const limitMs = 600_000;
/** At these passes both replicas are killed: a group is a page of messages out or more, and hundreds of messages in. */
const faults = faultPoints
  .filter((point) => point.startsWith("dmf."))
  .map((point) => ({ point, pass: point.startsWith("dmf.publish.") ? 1 : 20 }));
/** The broker is killed as well at these, where dmf has lost something half done of each direction. */
const brokerKills: readonly string[] = ["dmf.message.after-handled", "dmf.publish.before-confirm"];

test("a rollout over 1,000 things and 1,000 HTTP devices ends with one action each and whole histories, whatever of messaging is killed", async () => {
  const api = resilientAdmin(stack);
  const name = uniqueName("both");
  const made = await api.settle<MessagingAccess>("system/amqp/dmf", { method: "POST" });
  const url = Object.values(made.answer.body.users)[0]?.amqpUri ?? "";
  // each group has things and HTTP devices, and there is a group more than faults, which ends it in peace
  const groups = Array.from({ length: faults.length + 1 }, (_, n) => `g${n}`);
  const idsOf = (kind: string) => Array.from({ length: each }, (_, i) => `${name}-${groups[i % groups.length]}-${kind}-${i}`);
  const things = await runThings({ url, ids: idsOf("amqp") });
  const devices = idsOf("http").map((controllerId) => ({ controllerId, token: `token-${controllerId}` }));
  const bodies = devices.map(({ controllerId, token }) => ({ controllerId, securityToken: token }));
  for (const part of [bodies.slice(0, 500), bodies.slice(500)]) {
    expect((await api.settle("targets", { method: "POST", body: part })).answer.status).toBe(201);
  }
  const count = async (query: string) => (await api.get<{ total: number }>(`targets?limit=1&q=${encodeURIComponent(query)}`)).total;
  await eventually(async () => expect(await count(`controllerid==${name}-*`)).toBe(2 * each), limitMs, 500);
  const module = await api.settle<{ id: number }[]>("softwaremodules", { method: "POST", body: [{ name, version: "1.0", type: "os" }] });
  const modules = [{ id: module.answer.body[0]?.id }];
  const set = await api.settle<{ id: number }[]>("distributionsets", {
    method: "POST",
    body: [{ name, version: "1.0", type: "os", modules }],
  });
  const rollout = await api.settle<{ id: number }>("rollouts", {
    method: "POST",
    body: {
      name,
      distributionSetId: set.answer.body[0]?.id,
      targetFilterQuery: `controllerId==${name}-*`,
      groups: groups.map((group) => ({ name: group, targetFilterQuery: `controllerId==${name}-${group}-*`, targetPercentage: 100 })),
      successCondition: { condition: "THRESHOLD", expression: "50" },
      successAction: { action: "PAUSE", expression: "" },
    },
  });
  const id = rollout.answer.body.id;
  const statusOf = async () => (await api.get<{ status: string }>(`rollouts/${id}`)).status;
  const isNow = (status: string) => eventually(async () => expect(await statusOf()).toBe(status), limitMs, 200);
  const move = async (how: string) =>
    expect((await api.settle(`rollouts/${id}/${how}`, { method: "POST" })).answer.status).toBeLessThan(300);
  await isNow("ready");
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 5, fail: 0 });
  const killedAt: string[] = [];
  try {
    for (const [n, { point, pass }] of faults.entries()) {
      // while the rollout is paused the next group is still untouched: what it will send and get reaches the point for certain
      const before: number[] = [];
      for (const index of [0, 1]) {
        before.push(deathsOf(index));
        await stack.restart("dmf", index, `${point}:${pass}`);
      }
      await move(n === 0 ? "start" : "resume");
      // when one that consumes is gone the other one consumes; who sends next is whoever asks first, perhaps a restarted one
      const dies = (index: number): boolean => deathsOf(index) > (before[index] ?? 0);
      const both = point.startsWith("dmf.message.");
      await eventually(() => expect(both ? [0, 1].every(dies) : [0, 1].some(dies)).toBe(true), limitMs, 20);
      killedAt.push(point);
      if (brokerKills.includes(point)) {
        await broker.kill();
        await broker.restart();
      }
      await isNow("paused");
    }
    await move("resume");
    await isNow("finished");
  } finally {
    await fleet.stop();
    await things.stop();
  }
  expect(killedAt).toEqual(faults.map(({ point }) => point));
  expect(brokerKills.every((point) => killedAt.includes(point))).toBe(true);
  // what the devices think is what the server has been told, device by device
  for (const [kind, { finals, violations }] of [
    ["http", fleet.report()],
    ["amqp", things.report()],
  ] as const) {
    expect(violations).toEqual([]);
    expect(finals.filter(({ outcome }) => outcome !== "success")).toEqual([]);
    expect(finals.map(({ controllerId }) => controllerId).toSorted()).toEqual(idsOf(kind).toSorted());
  }
  const wrong: string[] = [];
  const controllerIds = [...idsOf("amqp"), ...idsOf("http")];
  const check = async (): Promise<void> => {
    for (let one = controllerIds.pop(); one !== undefined; one = controllerIds.pop()) {
      const { content: actions } = await api.get<{ content: ActionView[] }>(`targets/${one}/actions`);
      const [action] = actions;
      if (actions.length !== 1 || action?.detailStatus !== "finished") {
        wrong.push(`${one}: ${JSON.stringify(actions.map(({ detailStatus }) => detailStatus))}`);
        continue;
      }
      const { content: entries } = await api.get<{ content: { id: number; type: string }[] }>(
        `targets/${one}/actions/${action.id}/status?limit=500&sort=id:ASC`,
      );
      const types = entries.map(({ type }) => type);
      // things have said these, in this order; the HTTP devices have nothing to fetch
      const said = one.includes("-amqp-") ? ["download", "downloaded", "finished"] : ["finished"];
      const places = said.map((type) => types.indexOf(type));
      const gap =
        entries.some(({ id: number }, index) => number !== index + 1) || places.some((place, index) => place <= (places[index - 1] ?? -1));
      if (gap || types.at(-1) !== "finished" || types.filter((type) => type === "finished").length !== 1)
        wrong.push(`${one}: ${types.join(" ")}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, check));
  expect(wrong).toEqual([]);
});

/** How often a replica has ended by itself so far. */
function deathsOf(index: number): number {
  return killed.filter((replica) => replica === `dmf-${index}`).length;
}
