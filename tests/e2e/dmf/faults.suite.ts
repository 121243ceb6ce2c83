import type { SystemStatusView } from "@harrier/contracts";
import { faultPoints } from "@harrier/service";
import type { RunningService } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { expect, test } from "vitest";
import { counterOf } from "../support/metrics.ts";
import { pollOn } from "../support/polling.ts";
import { type Backend, connectBackend } from "../support/thing.ts";
import { admin, broker, hostsOf, proxy, replicasOfDmf, stack, url } from "./stack.ts";
import { actionsOf, assignAll, limitMs, newSet } from "./things.ts";

const exchange = "faults.replies";

async function register(backend: Backend, n: number): Promise<string[]> {
  const ids = Array.from({ length: n }, () => uniqueName("thing"));
  for (const id of ids) backend.register(id);
  await eventually(async () => {
    const { total } = await admin.get<{ total: number }>(`targets?q=controllerid=in=(${ids.join(",")})&limit=1`);
    expect(total).toBe(n);
  }, limitMs);
  return ids;
}

/** Waits until each of them has been told, and answers it: a thing that is told twice says the same twice. */
async function finish(backend: Backend, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const told = await backend.next(({ thingId, topic }) => thingId === id && topic === "DOWNLOAD_AND_INSTALL", limitMs);
    backend.report(told.body.actionId, "RUNNING");
    backend.report(told.body.actionId, "FINISHED");
  }
}

/** Each has one action, which is finished, and all that its thing has said is in its history; nobody is left waiting. */
async function allFinished(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const action = await eventually(async () => {
      const actions = await actionsOf(id);
      expect(actions.map(({ detailStatus }) => detailStatus)).toEqual(["finished"]);
      return actions[0];
    }, limitMs);
    const path = `targets/${id}/actions/${action?.id}/status?limit=100`;
    const { content } = await admin.get<{ content: { messages: string[] }[] }>(path);
    const said = content.flatMap(({ messages }) => messages);
    expect(said, id).toEqual(expect.arrayContaining(["is RUNNING", "is FINISHED"]));
  }
}

/** How many messages a replica has sent. */
const sentBy = (replica: RunningService): Promise<number> => counterOf([replica], "harrier_dmf_sent_total", { outcome: "sent" });

/** What is left when replicas of dmf and the broker are killed; it comes last, because connections of other tests end with the broker. */
export function faultsOfMessaging(): void {
  test("console M24 replicas of dmf are part of the system's status, with their jobs, also after one was killed", async () => {
    const replicas = async () => {
      const { nodes } = await admin.get<SystemStatusView>("system/status");
      return nodes.filter(({ service, up }) => service === "dmf" && up);
    };
    await eventually(async () => expect((await replicas()).length).toBeGreaterThanOrEqual(2), limitMs);
    const before = await replicas();
    for (const { version, jobs } of before) {
      expect(version).toMatch(/^\d+\.\d+\.\d+/);
      expect(jobs.map(({ name }) => name).sort()).toEqual(["messages", "node-status", "refusals", "tenants"]);
    }
    stack.kill("dmf", 0, "SIGKILL");
    // the killed one is not told of as gone before 90 s, so the new one comes beside it
    const known = new Set(before.map(({ id }) => id));
    await eventually(async () => expect((await replicas()).filter(({ id }) => !known.has(id))).toHaveLength(1), limitMs);
  });

  test("when the broker is cut off for the replica that sends alone, the other one sends", async () => {
    const backend = await connectBackend(url, { exchange });
    try {
      const [first = "", second = ""] = await register(backend, 2);
      const replicas = replicasOfDmf();
      const before = await Promise.all(replicas.map(sentBy));
      await assignAll([first], await newSet());
      await finish(backend, [first]);
      await allFinished([first]);
      const grown = (await Promise.all(replicas.map(sentBy))).map((n, index) => n - (before[index] ?? 0));
      const leading = replicas[grown.findIndex((n) => n > 0)];
      const other = replicas.find((replica) => replica !== leading);
      if (leading === undefined || other === undefined) throw new Error(`there are not two replicas, of which one sends: ${grown}`);
      proxy.cut(leading.pid() ?? 0);
      await eventually(async () => expect(await hostsOf(leading, "away")).toBeGreaterThan(0), limitMs);
      const sent = await Promise.all([leading, other].map(sentBy));
      await assignAll([second], await newSet());
      await finish(backend, [second]);
      await allFinished([second]);
      expect(await sentBy(leading)).toBe(sent[0]);
      expect(await sentBy(other)).toBeGreaterThan(sent[1] ?? 0);
      proxy.mend();
      await eventually(async () => expect(await hostsOf(leading, "away")).toBe(0), limitMs);
    } finally {
      proxy.mend();
      await backend.close();
    }
  });

  test("a replica that stands still in the middle of a thing's messages lets the other one go on, and changes nothing when it runs again", async () => {
    const backend = await connectBackend(url, { exchange });
    let stopped = 0;
    try {
      const [id = ""] = await register(backend, 1);
      const say = (n: number) => backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { n } });
      const said = async () => Number((await admin.get<{ n?: string }>(`targets/${id}/attributes`)).n ?? 0);
      const handledBy = (replica: RunningService) => counterOf([replica], "harrier_dmf_received_total", { outcome: "handled" });
      const replicas = replicasOfDmf();
      const before = await Promise.all(replicas.map(handledBy));
      const last = 1_000;
      for (let n = 1; n <= last; n += 1) say(n);
      await eventually(async () => expect(await said()).toBeGreaterThan(0), limitMs, 10);
      // a message is counted after its effect can be seen
      const consuming = await eventually(
        async () => {
          const grown = (await Promise.all(replicas.map(handledBy))).map((n, index) => n - (before[index] ?? 0));
          expect(grown.filter((n) => n > 0)).toHaveLength(1);
          return replicas[grown.findIndex((n) => n > 0)];
        },
        limitMs,
        10,
      );
      stopped = consuming?.pid() ?? 0;
      process.kill(stopped, "SIGSTOP");
      // the broker waits for heartbeats before it gives the messages to the other one
      await eventually(async () => expect(await said()).toBe(last), 2 * limitMs);
      process.kill(stopped, "SIGCONT");
      const more = 50;
      for (let n = 1; n <= more; n += 1) say(last + n);
      // what it was given before it stood still is behind all of these, and must not come back
      const seen: number[] = [];
      await eventually(async () => expect(seen[seen.push(await said()) - 1]).toBe(last + more), limitMs, 10);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    } finally {
      if (stopped > 0) process.kill(stopped, "SIGCONT");
      // another client of this exchange would get half of what the next test waits for
      await backend.close();
    }
  });

  test.each(faultPoints.filter((point) => point.startsWith("dmf.")))(
    "nothing is lost when replicas of dmf are killed at %s",
    async (point) => {
      const backend = await connectBackend(url, { exchange });
      try {
        const ids = await register(backend, 20);
        // one of them consumes, and one of them sends; a page of messages out is all of them at once
        const pass = point.startsWith("dmf.publish.") ? 1 : 3;
        await Promise.all([0, 1].map((index) => stack.restart("dmf", index, `${point}:${pass}`)));
        const before = replicasOfDmf().map((replica) => replica.pid());
        const killed = () => replicasOfDmf().filter((replica, index) => replica.pid() !== before[index]).length;
        await assignAll(ids, await newSet());
        await finish(backend, ids);
        await allFinished(ids);
        // when one that consumes is gone the other one consumes; who sends next is whoever asks first, perhaps a restarted one
        expect(killed()).toBeGreaterThanOrEqual(point.startsWith("dmf.publish.") ? 1 : 2);
      } finally {
        // the replica that did not lead is still armed, and would be killed in the next test
        await Promise.all([0, 1].map((index) => stack.restart("dmf", index)));
        await backend.close();
      }
    },
  );

  test("what is assigned while the broker is away is told when it is back, also where it was killed twice, and HTTP devices notice nothing", async () => {
    let backend = await connectBackend(url, { exchange });
    const ids = await register(backend, 20);
    const polling = await pollOn(stack, admin);
    for (const part of [ids.slice(0, 10), ids.slice(10)]) {
      await broker.kill();
      await polling.goesOn();
      await assignAll(part, await newSet());
      await broker.restart();
      backend = await connectBackend(url, { exchange });
      await finish(backend, part);
      await allFinished(part);
    }
    expect(await polling.stop()).toEqual([]);
    await backend.close();
  });
}
