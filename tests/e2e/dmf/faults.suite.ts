import type { SystemStatusView } from "@harrier/contracts";
import { faultPoints } from "@harrier/service";
import { eventually, uniqueName } from "@harrier/testkit";
import { expect, test } from "vitest";
import { type Backend, connectBackend } from "../support/thing.ts";
import { admin, broker, stack, url } from "./stack.ts";
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

/** Each has one action, which is finished; nobody is left waiting. */
async function allFinished(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(async () => {
      expect((await actionsOf(id)).map(({ detailStatus }) => detailStatus)).toEqual(["finished"]);
    }, limitMs);
  }
}

/** What is left when replicas of dmf and the broker are killed; it comes last, because connections of other tests end with the broker. */
export function faultsOfMessaging(): void {
  test("console M24 replicas of dmf are part of the system's status, with their jobs, also after one was killed", async () => {
    const replicas = async () => {
      const { nodes } = await admin.get<SystemStatusView>("system/status");
      return nodes.filter(({ service, up }) => service === "dmf" && up);
    };
    await eventually(async () => expect(await replicas()).toHaveLength(2), limitMs);
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

  test.each(faultPoints.filter((point) => point.startsWith("dmf.")))(
    "nothing is lost when both replicas of dmf are killed at %s",
    async (point) => {
      const backend = await connectBackend(url, { exchange });
      try {
        const ids = await register(backend, 20);
        // one of them consumes, and one of them sends
        // a page of messages out is all of them at once
        const pass = point.startsWith("dmf.publish.") ? 1 : 3;
        await Promise.all([0, 1].map((index) => stack.restart("dmf", index, `${point}:${pass}`)));
        const pids = () => stack.services.filter(({ service }) => service === "dmf").map((replica) => replica.pid());
        const before = pids();
        await assignAll(ids, await newSet());
        await finish(backend, ids);
        await allFinished(ids);
        expect(pids()).not.toEqual(before);
      } finally {
        // the replica that did not lead is still armed, and would be killed in the next test
        await Promise.all([0, 1].map((index) => stack.restart("dmf", index)));
        await backend.close();
      }
    },
  );

  test("what is assigned while the broker is away is told when it is back, also where it was killed twice", async () => {
    let backend = await connectBackend(url, { exchange });
    const ids = await register(backend, 20);
    const polls = await fetch(`${stack.baseUrl}/livez`);
    expect(polls.status).toBe(200);
    for (const part of [ids.slice(0, 10), ids.slice(10)]) {
      await broker.kill();
      await assignAll(part, await newSet());
      await broker.restart();
      backend = await connectBackend(url, { exchange });
      await finish(backend, part);
      await allFinished(part);
    }
    await backend.close();
  });
}
