import { randomBytes } from "node:crypto";
import type { Stack } from "@harrier/stack";
import { createDevice, type DeploymentArtifact, type Device, uniqueName } from "@harrier/testkit";
import { adminOf } from "./replicas.ts";

export interface Tally {
  /** The number of requests by their purpose, failed ones included. */
  readonly done: Readonly<Record<string, number>>;
  /** One text `<what>: <status or error>` for each request that failed. */
  readonly failed: readonly string[];
}

export interface MixedLoad {
  /** Ends the load when every request that was begun has ended. */
  stop(): Promise<Tally>;
}

interface Busy {
  readonly device: Device;
  readonly actionId: number;
  readonly artifact: DeploymentArtifact;
}

type Work = () => Promise<{ status: number }>;

/** Does what devices and administrators do, at a steady rate; nothing is retried. */
export async function startMixedLoad(stack: Stack, perSecond: number): Promise<MixedLoad> {
  const works = await prepare(stack);
  const done: Record<string, number> = {};
  const failed: string[] = [];
  const running = new Set<Promise<void>>();
  let n = 0;
  const one = async (): Promise<void> => {
    const [what, work] = works[n++ % works.length] as [string, Work];
    const began = Date.now();
    done[what] = (done[what] ?? 0) + 1;
    try {
      const { status } = await work();
      if (status >= 400) failed.push(`${what}: ${status} after ${Date.now() - began} ms`);
    } catch (error) {
      failed.push(`${what}: ${(error as Error).message} (${String((error as Error).cause)}) after ${Date.now() - began} ms`);
    }
  };
  const timer = setInterval(() => {
    const run = one().finally(() => running.delete(run));
    running.add(run);
  }, 1_000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      return { done, failed };
    },
  };
}

async function prepare(stack: Stack): Promise<[string, Work][]> {
  const api = adminOf(stack);
  const { set, module } = await api.createSetWithFile(randomBytes(200_000));
  const modules = await Promise.all(Array.from({ length: 30 }, () => api.createModule()));
  const targets = await api.createTargets(20);
  const fleet: Busy[] = [];
  for (const { controllerId, securityToken } of targets) {
    const actionId = await api.assign(controllerId, set.id);
    const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
    const artifact = (await device.deployment())?.deployment.chunks[0]?.artifacts[0] as DeploymentArtifact;
    fleet.push({ actionId, device, artifact });
  }
  let nextIndex = 0;
  const next = () => fleet[nextIndex++ % fleet.length] as Busy;
  const poll: [string, Work] = ["poll", () => next().device.call("")];
  const form = () => {
    const body = new FormData();
    body.set("file", new Blob([randomBytes(50_000)]), `${uniqueName("file")}.bin`);
    return { method: "POST", body };
  };
  return [
    poll,
    [
      "report",
      () => {
        const { actionId, device } = next();
        return device.report(actionId, "proceeding");
      },
    ],
    ["list targets", () => api.call("targets?limit=5")],
    [
      "download",
      () => {
        const { device, artifact } = next();
        return device.download(artifact);
      },
    ],
    poll,
    ["create target", () => api.call("targets", { method: "POST", body: [{ controllerId: uniqueName("made"), name: "made" }] })],
    ["list sets", () => api.call("distributionsets?limit=5")],
    ["upload", () => api.call(`softwaremodules/${modules[nextIndex++ % modules.length]?.id}/artifacts`, form())],
    poll,
    ["change module", () => api.call(`softwaremodules/${module.id}`, { method: "PUT", body: { description: uniqueName("text") } })],
    ["list rollouts", () => api.call("rollouts?limit=5")],
    ["create filter", () => api.call("targetfilters", { method: "POST", body: { name: uniqueName("filter"), query: "name==*" } })],
  ];
}
