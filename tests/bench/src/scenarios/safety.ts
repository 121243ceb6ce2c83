import { type Fleet, type FleetOptions, runFleet } from "@harrier/simulator";
import { eventually, withClient } from "@harrier/testkit";
import type { Bench } from "../lib/context.ts";
import { type SeededSet, seedSet, seedTargets, tokenOf } from "../lib/seed.ts";
import { benchSafetyCosts } from "./safety-costs.ts";

const devices = 200;
const groups = 4;
const limitMs = 300_000;
/** The shortest limit that a policy may set. */
const silentAfterSeconds = 60;
/** The code of a failure that no further attempt mends. */
const realFailure = 42;
const pauseLateSeconds = 3;
/** More than this part of a group that has failed pauses a rollout. */
const errorShare = 0.1;

type Lies = Pick<FleetOptions, "fail" | "failCode" | "fallBack" | "silent" | "flaky">;
interface Fault {
  set: SeededSet;
  fault: string;
  lies: Lies;
  safety: object;
}
interface Run {
  prefix: string;
  id: number;
  /** Whether the rollout has the policy. */
  safe: boolean;
  ids: readonly string[];
  fleet: Fleet;
}
interface Rollout {
  id: number;
  status: string;
  totalTargetsPerStatus: Record<string, number>;
  statusReason?: { at: number };
  safetyCounts?: { silent: number };
}

/**
 * Runs the same faults twice at the same time: by a rollout that believes its devices, as every update server does, and by one with a policy. Figures are
 * counts of devices, so a busy machine changes none of them.
 */
export async function benchSafety(bench: Bench): Promise<void> {
  const { api } = bench;
  await api.put("/system/configs/evidence.default", { value: JSON.stringify([{ attribute: "sw_version", equals: `\${set.version}` }]) });
  const set = await seedSet(api, "safety-set");
  await benchSafetyCosts(bench, set);
  await addFallback(bench, set);
  await addSilent(bench, set);
  await addTransient(bench, set);
}

const believe = "by a server that believes the device";
const countOf = async (bench: Bench, query: string) =>
  (await bench.api.get<{ total: number }>(`/targets?limit=1&q=${encodeURIComponent(query)}`)).total;

async function addFallback(bench: Bench, set: SeededSet): Promise<void> {
  const safety = { proof: { graceSeconds: 0, stable: { polls: 1 } } };
  const [believed, proven] = await both(bench, { set, fault: "back", lies: { fail: 0, fallBack: 0.3 }, safety }, async ({ prefix, id }) => {
    // Without a policy a rollout ends on the devices' word; what they run is in the attributes that they sent after it.
    const status = await ended(bench, id);
    const shown = (version: string) => countOf(bench, `controllerid==${prefix}*;attribute.sw_version==${version}`);
    const hurt = await eventually(async () => {
      const { running = 0, finished = 0, error = 0 } = (await read(bench, id)).totalTargetsPerStatus;
      const [old, updated] = [await shown("0"), await shown("1")];
      if (old + updated < running + finished + error) throw new Error("not every device has said what it runs");
      return old;
    }, limitMs);
    const { content } = await bench.api.get<{ content: { status: string }[] }>(`/rollouts/${id}/deploygroups?limit=${groups}&sort=id:ASC`);
    const opened = content.filter((group) => group.status !== "scheduled").length;
    return { status, hurt, opened, succeeded: (await read(bench, id)).totalTargetsPerStatus["finished"] ?? 0 };
  });
  const { status, succeeded, hurt, opened } = believed;
  bench.report.add({
    scenario: "safety",
    figure: "fallback: devices that fell back",
    value: proven.hurt,
    unit: `of ${devices}, ${proven.status} in group ${proven.opened}`,
    limit: `${hurt}, ${status} with ${succeeded} successes in ${opened} groups: ${believe}`,
    ok: proven.status === "paused" && proven.opened === 1 && status === "finished" && opened === groups && hurt > proven.hurt,
  });
}

async function addSilent(bench: Bench, set: SeededSet): Promise<void> {
  const safety = { limits: { downloadingSeconds: silentAfterSeconds, installingSeconds: silentAfterSeconds } };
  const [believed, limited] = await both(bench, { set, fault: "silent", lies: { fail: 0, silent: 0.2 }, safety }, async (run) => {
    if (run.safe) await ended(bench, run.id);
    // The other one never ends: it is read once the limit has passed for both.
    else await new Promise((resolve) => setTimeout(resolve, (silentAfterSeconds + 30) * 1_000));
    const { status, totalTargetsPerStatus, safetyCounts } = await read(bench, run.id);
    const late = run.safe ? await pausedLate(bench, run.id) : Number.NaN;
    const seen = { status, running: totalTargetsPerStatus["running"] ?? 0, silent: safetyCounts?.silent ?? 0, late };
    return { ...seen, returned: run.safe ? await returned(bench, run) : 0 };
  });
  const add = bench.report.add;
  add({
    scenario: "safety",
    figure: "silent: dead devices that count as failed",
    value: limited.silent,
    unit: `of ${limited.running}, ${limited.status}`,
    limit: `0 of ${believed.running}, ${believed.status}: ${believe}`,
    ok: limited.status === "paused" && believed.status === "running" && limited.silent > 0,
  });
  add({
    scenario: "safety",
    figure: "silent: from the end of the limit to the pause",
    value: limited.late,
    unit: "s",
    limit: `budget ${pauseLateSeconds} s; never: ${believe}`,
    ok: limited.late <= pauseLateSeconds,
  });
  add({
    scenario: "safety",
    figure: "silent: devices that return, and count as updated",
    value: limited.returned,
    unit: `of ${limited.running}`,
    limit: "all of them, and none is silent any more",
    ok: limited.returned === limited.running,
  });
}

/** The seconds from the moment at which the limit was over for one dead device more than the threshold allows, to the pause of the rollout. */
async function pausedLate(bench: Bench, id: number): Promise<number> {
  const { statusReason } = await read(bench, id);
  return await withClient(bench.stack.adminDatabaseUrl ?? "", async (client) => {
    const { rows } = await client.query<{ late: number }>(
      `with silent as (
         select w.since, row_number() over (order by w.since) as n, count(*) over () as of
           from controller.action_watches w join controller.actions a on a.tenant_id = 1 and a.id = w.action_id
          where w.tenant_id = 1 and a.rollout_id = $1 and w.silent)
       select ($3::float8 / 1000 - extract(epoch from s.since) - $2)::float8 as late from silent s where s.n = $4`,
      [id, silentAfterSeconds, statusReason?.at, Math.floor((devices / groups) * errorShare) + 1],
    );
    return rows[0]?.late ?? Number.NaN;
  });
}

/** The dead devices come back while their rollout is paused, and go on. Returns how many of those that were running are updated then. */
async function returned(bench: Bench, { id, ids, fleet: first }: Run): Promise<number> {
  await first.stop();
  const before = await read(bench, id);
  const fleet = fleetOf(bench, ids, { fail: 0 });
  try {
    return await eventually(async () => {
      const { totalTargetsPerStatus, safetyCounts } = await read(bench, id);
      if (safetyCounts?.silent !== 0 || (totalTargetsPerStatus["running"] ?? 0) > 0) throw new Error("some are under way");
      return (totalTargetsPerStatus["finished"] ?? 0) - (before.totalTargetsPerStatus["finished"] ?? 0);
    }, limitMs);
  } finally {
    await fleet.stop();
  }
}

async function addTransient(bench: Bench, set: SeededSet): Promise<void> {
  const safety = { retry: { max: 2, delaySeconds: 1, codes: ["500-599"] } };
  const lies = { fail: 0.02, failCode: realFailure, flaky: 0.2 };
  const [once, again] = await both(bench, { set, fault: "flaky", lies, safety }, async ({ prefix, id }) => {
    const status = await ended(bench, id);
    return { status, updated: await countOf(bench, `controllerid==${prefix}*;updatestatus==in_sync`), ...(await failed(bench, id)) };
  });
  bench.report.add({
    scenario: "safety",
    figure: "transient: devices updated without a hand",
    value: again.updated,
    unit: `of ${devices}, ${again.status}; ${again.real} failed for good`,
    limit: `${once.updated}, ${once.status}: ${believe}`,
    ok: again.status === "finished" && again.updated === devices - again.real && once.updated < again.updated,
  });
  bench.report.add({
    scenario: "safety",
    figure: "transient: real failures that were tried again",
    value: again.realAgain,
    unit: `of ${again.real}`,
    limit: "none",
    ok: again.real > 0 && again.realAgain === 0,
  });
}

/** Counts the actions that failed for a reason that does not pass: those that ended so, and those after which there was another attempt. */
async function failed(bench: Bench, id: number): Promise<{ real: number; realAgain: number }> {
  return await withClient(bench.stack.adminDatabaseUrl ?? "", async (client) => {
    const { rows } = await client.query<{ real: number; realAgain: number }>(
      `select count(*) filter (where retried_by is null)::int as real, count(*) filter (where retried_by is not null)::int as "realAgain"
         from controller.actions where tenant_id = 1 and rollout_id = $1 and last_status_code = $2`,
      [id, realFailure],
    );
    return rows[0] ?? { real: Number.NaN, realAgain: Number.NaN };
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
  { set, fault, lies, safety }: Fault,
  look: (run: Run) => Promise<T>,
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
      errorCondition: { condition: "THRESHOLD", expression: String(errorShare * 100) },
      errorAction: { action: "PAUSE" },
      ...(safe ? { safety } : {}),
    });
    await eventually(async () => {
      if ((await read(bench, id)).status !== "ready") throw new Error("the rollout is not ready");
    }, limitMs);
    await bench.api.post(`/rollouts/${id}/start`, {});
    const fleet = fleetOf(bench, ids, lies);
    try {
      return await look({ prefix, id, safe, ids, fleet });
    } finally {
      await fleet.stop();
    }
  };
  const [believed, safely] = await Promise.all([one(false), one(true)]);
  return [believed, safely];
}

function fleetOf(bench: Bench, ids: readonly string[], lies: Lies): Fleet {
  const all = ids.map((controllerId) => ({ controllerId, token: tokenOf(controllerId) }));
  return runFleet({ baseUrl: bench.stack.baseUrl, devices: all, pollSeconds: 1, rangePieces: 1, ...lies });
}
