import { type FleetOptions, runFleet } from "@harrier/simulator";
import { eventually } from "@harrier/testkit";
import type { Bench } from "../lib/context.ts";
import { type SeededSet, seedSet, seedTargets, tokenOf } from "../lib/seed.ts";
import { benchSafetyCosts } from "./safety-costs.ts";

const devices = 200;
const groups = 4;
const limitMs = 300_000;
/** The shortest limit that a policy may set. */
const silentAfterSeconds = 60;

type Lies = Pick<FleetOptions, "fail" | "fallBack" | "silent" | "flaky">;
interface Rollout {
  id: number;
  status: string;
  totalTargetsPerStatus: Record<string, number>;
  safetyCounts?: { silent: number };
}

/**
 * Runs the same faults twice at the same time: by a rollout that believes its devices, as every update server does, and by one with a policy. Figures are
 * counts of devices, so a busy machine changes none of them.
 */
export async function benchSafety(bench: Bench): Promise<void> {
  const { api, report } = bench;
  await api.put("/system/configs/evidence.default", { value: JSON.stringify([{ attribute: "sw_version", equals: `\${set.version}` }]) });
  const set = await seedSet(api, "safety-set");
  await benchSafetyCosts(bench, set);
  const count = async (query: string) => (await api.get<{ total: number }>(`/targets?limit=1&q=${encodeURIComponent(query)}`)).total;
  const believe = "by a server that believes the device";

  const fallback = { proof: { graceSeconds: 0, stable: { polls: 1 } } };
  const [believedBack, provenBack] = await both(bench, set, "back", { fail: 0, fallBack: 0.3 }, fallback, async (name, rollout) => {
    // Without a policy a rollout ends on the devices' word; what they run is in the attributes that they sent after it.
    const status = await ended(bench, rollout);
    const shown = (version: string) => count(`controllerid==${name}*;attribute.sw_version==${version}`);
    const hurt = await eventually(async () => {
      const { running = 0, finished = 0, error = 0 } = (await read(bench, rollout)).totalTargetsPerStatus;
      const [old, updated] = [await shown("0"), await shown("1")];
      if (old + updated < running + finished + error) throw new Error("not every device has said what it runs");
      return old;
    }, limitMs);
    return { status, hurt, succeeded: (await read(bench, rollout)).totalTargetsPerStatus["finished"] ?? 0 };
  });
  report.add({
    scenario: "safety",
    figure: "fallback: devices that fell back",
    value: provenBack.hurt,
    unit: `of ${devices}, ${provenBack.status}`,
    limit: `${believedBack.hurt}, ${believedBack.status} with ${believedBack.succeeded} successes: ${believe}`,
    ok: provenBack.status === "paused" && believedBack.status === "finished" && provenBack.hurt * 2 < believedBack.hurt,
  });

  const limits = { limits: { downloadingSeconds: silentAfterSeconds, installingSeconds: silentAfterSeconds } };
  const [believedSilent, limitedSilent] = await both(bench, set, "silent", { fail: 0, silent: 0.2 }, limits, async (_, rollout, safe) => {
    if (safe) await ended(bench, rollout);
    // The other one never ends: it is read once the limit has passed for both.
    else await new Promise((resolve) => setTimeout(resolve, (silentAfterSeconds + 30) * 1_000));
    const { status, totalTargetsPerStatus, safetyCounts } = await read(bench, rollout);
    return { status, running: totalTargetsPerStatus["running"] ?? 0, silent: safetyCounts?.silent ?? 0 };
  });
  report.add({
    scenario: "safety",
    figure: "silent: dead devices that count as failed",
    value: limitedSilent.silent,
    unit: `of ${limitedSilent.running}, ${limitedSilent.status}`,
    limit: `0 of ${believedSilent.running}, ${believedSilent.status}: ${believe}`,
    ok: limitedSilent.status === "paused" && believedSilent.status === "running" && limitedSilent.silent > 0,
  });

  const retry = { retry: { max: 2, delaySeconds: 1, codes: ["500-599"] } };
  const [once, again] = await both(bench, set, "flaky", { fail: 0, flaky: 0.2 }, retry, async (name, rollout) => {
    const status = await ended(bench, rollout);
    return { status, updated: await count(`controllerid==${name}*;updatestatus==in_sync`) };
  });
  report.add({
    scenario: "safety",
    figure: "transient: devices updated without a hand",
    value: again.updated,
    unit: `of ${devices}, ${again.status}`,
    limit: `${once.updated}, ${once.status}: ${believe}`,
    ok: again.status === "finished" && again.updated === devices && once.updated < devices,
  });
}

const read = (bench: Bench, rollout: number) => bench.api.get<Rollout>(`/rollouts/${rollout}?representation=full`);

/** Waits until a rollout is finished or stops itself. */
async function ended(bench: Bench, rollout: number): Promise<string> {
  return await eventually(async () => {
    const { status } = await read(bench, rollout);
    if (status !== "paused" && status !== "finished") throw new Error(`the rollout is ${status}`);
    return status;
  }, limitMs);
}

/** Runs a rollout without and one with the policy at the same time, each over devices of its own with the same faults. */
async function both<T>(
  bench: Bench,
  set: SeededSet,
  fault: string,
  lies: Lies,
  safety: object,
  look: (prefix: string, rollout: number, safe: boolean) => Promise<T>,
): Promise<readonly [believed: T, safe: T]> {
  const one = async (safe: boolean): Promise<T> => {
    const prefix = `${fault}-${safe ? "safe" : "bare"}-`;
    const ids = await seedTargets(bench.api, prefix, devices);
    const { id } = await bench.api.post<{ id: number }>("/rollouts", {
      name: prefix,
      targetFilterQuery: `controllerid==${prefix}*`,
      distributionSetId: set.id,
      amountGroups: groups,
      successCondition: { condition: "THRESHOLD", expression: "90" },
      errorCondition: { condition: "THRESHOLD", expression: "10" },
      errorAction: { action: "PAUSE" },
      ...(safe ? { safety } : {}),
    });
    await eventually(async () => {
      if ((await read(bench, id)).status !== "ready") throw new Error("the rollout is not ready");
    }, limitMs);
    await bench.api.post(`/rollouts/${id}/start`, {});
    const fleet = runFleet({
      baseUrl: bench.stack.baseUrl,
      devices: ids.map((controllerId) => ({ controllerId, token: tokenOf(controllerId) })),
      pollSeconds: 1,
      rangePieces: 1,
      ...lies,
    });
    try {
      return await look(prefix, id, safe);
    } finally {
      await fleet.stop();
    }
  };
  const [believed, safely] = await Promise.all([one(false), one(true)]);
  return [believed, safely];
}
