import { Agent, request } from "node:http";
import type { Stack } from "@harrier/stack";
import { eventually, twoOfEach, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminOf, allowTargetTokens, gatewayUrls, replicaOf, urlOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The tests check what clients notice of a replica that is ended in order, or that hangs.

let stack: Stack;
let devices: { path: string; authorization: string }[];

beforeAll(async () => {
  const gateway = { HARRIER_DRAIN_MS: "1500", HARRIER_DRAIN_TRANSFERS_MS: "3000" };
  // As in a deployment: whoever calls the replica that came back before may connect to it again while the next one still serves.
  const controller = { HARRIER_DRAIN_MS: "3000" };
  stack = await startAnsweringStack({ replicas: { ...twoOfEach, gateway: 2 }, gateway, controller });
  await allowTargetTokens(stack);
  const targets = await adminOf(stack).createTargets(20, uniqueName("restart"));
  devices = targets.map(({ controllerId, securityToken }) => ({
    path: `/DEFAULT/controller/v1/${controllerId}`,
    authorization: `TargetToken ${securityToken}`,
  }));
});
afterAll(() => stack?.stop());

const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());

interface Call {
  url: string;
  method?: string;
  authorization?: string;
  body?: string;
}

/** Returns the status, or why there was none. */
function statusOf({ url, method = "GET", authorization, body }: Call): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }),
    };
    const req = request(url, { method, headers, agent, timeout: 20_000 }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode ?? 0));
    });
    req.on("timeout", () => req.destroy(new Error("no answer")));
    req.on("error", (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
    req.end(body);
  });
}

/** Sends polls and attributes of all devices, repeatedly, until it is stopped; returns how often each answer came. */
function load(baseOf: () => string): { stop(): Promise<Record<string, number>> } {
  const seen: Record<string, number> = {};
  let stopped = false;
  const work = devices.map(async ({ path, authorization }, n) => {
    for (let round = 0; !stopped; round += 1) {
      const poll = { url: baseOf() + path, authorization };
      const attributes = {
        ...poll,
        url: `${poll.url}/configData`,
        method: "PUT",
        body: JSON.stringify({ data: { round: String(round) } }),
      };
      const status = await statusOf(round % 4 === n % 4 ? attributes : poll);
      seen[status] = (seen[status] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(work);
      return seen;
    },
  };
}

test("one controller of two is ended and restarted: no poll and no attribute fails", async () => {
  const running = load(() => gatewayUrls(stack)[0] as string);
  await stack.restart("controller", 0);
  await stack.restart("controller", 1);
  const seen = await running.stop();
  expect(Object.keys(seen)).toEqual(["200"]);
});

test("one gateway of two is ended: with a balancer that respects readiness no client notices", async () => {
  const urls = gatewayUrls(stack);
  const ready = urls.map(() => true);
  let nextIndex = 0;
  // This probes each gateway five times a second and gives requests to the ready ones round-robin.
  const probing = setInterval(() => {
    for (const [n, url] of urls.entries()) void statusOf({ url: `${url}/readyz/self` }).then((status) => (ready[n] = status === 200));
  }, 200);
  const balancer = () => {
    const open = urls.filter((_, n) => ready[n]);
    nextIndex += 1;
    return (open.length === 0 ? urls : open)[nextIndex % Math.max(open.length, 1)] as string;
  };
  try {
    for (const index of [0, 1]) {
      const running = load(balancer);
      const restarted = stack.restart("gateway", index);
      await eventually(() => expect(ready[index]).toBe(false), 5_000, 20);
      await restarted;
      await eventually(() => expect(ready[index]).toBe(true), 20_000, 50);
      const seen = await running.stop();
      expect(Object.keys(seen)).toEqual(["200"]);
    }
  } finally {
    clearInterval(probing);
  }
});

test("a device that signs in while every controller hangs gets 503, and signs in when they go on", async () => {
  const [url] = gatewayUrls(stack);
  // No gateway has asked about these targets before.
  const targets = await adminOf(stack).createTargets(60, uniqueName("late"));
  const polls = () =>
    Promise.all(
      targets.map(({ controllerId, securityToken }) =>
        statusOf({ url: `${url}/DEFAULT/controller/v1/${controllerId}`, authorization: `TargetToken ${securityToken}` }),
      ),
    );
  for (const index of [0, 1]) stack.kill("controller", index, "SIGSTOP");
  try {
    expect(new Set(await polls())).toEqual(new Set([503]));
    expect(await statusOf({ url: `${urlOf(replicaOf(stack, "gateway"))}/readyz/self` })).toBe(200);
  } finally {
    for (const index of [0, 1]) stack.kill("controller", index, "SIGCONT");
  }
  await answering(stack);
  // Calls are denied until a second after controller answers again.
  await eventually(async () => expect(new Set(await polls())).toEqual(new Set([200])), 5_000);
});
