import { setTimeout as sleep } from "node:timers/promises";
import { type Fleet, type FleetOptions, runFleet } from "../fleet.ts";
import { createHttp, type Http, untilAnswered } from "../http.ts";
import type { FleetReport } from "../report.ts";
import type { Things, ThingsReport } from "../things.ts";
import { type Admin, ApiError, createAdmin } from "./admin.ts";
import { makeArchive } from "./archive.ts";
import { joinByMessage } from "./by-message.ts";
import { type CarefulResult, compareClaims, readCareful, settled, stoppedItself } from "./careful.ts";
import { type Comparison, compare, type GroupView, readGroups } from "./compare.ts";
import { prepare, type Target } from "./prepare.ts";

export interface DemoOptions {
  readonly baseUrl: string;
  readonly password: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly devices?: number;
  readonly fail?: number;
  readonly seed?: number;
  /** The default is a generated archive. */
  readonly file?: string;
  readonly pollSeconds?: number;
  readonly rangePieces?: number;
  readonly concurrency?: number;
  /** Half of the devices are things that speak DMF: at this address of the tenant's virtual host, or true, which enables DMF. */
  readonly dmf?: string | true;
  /** The file that keeps the address when DMF is enabled. */
  readonly addressFile?: string;
  /** The rollout has a safety policy, and this share of devices falls back after a reported success: it must stop by itself. Not with `dmf`. */
  readonly careful?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly say?: (line: string) => void;
  readonly onProgress?: (status: string, groups: readonly GroupView[]) => void;
}

export interface DemoResult extends Comparison {
  readonly rolloutId: number;
  readonly run: string;
  readonly fleet: FleetReport;
  readonly things?: ThingsReport;
  readonly seconds: number;
  /** Only with `careful`: what the devices of each group show, and how the rollout ended. */
  readonly careful?: CarefulResult;
  /** Both sides agree, and nothing forbidden happened. */
  readonly ok: boolean;
}

const usual = {
  user: "admin",
  tenant: "DEFAULT",
  devices: 200,
  fail: 0.05,
  seed: 1,
  pollSeconds: 1,
  rangePieces: 4,
  concurrency: 32,
  timeoutMs: 15 * 60_000,
};
const liveMs = 10_000;
const archiveSize = 20 * 1024 * 1024;

type Settings = DemoOptions & typeof usual;
/** What the end of a run adds to its result. */
type Ending = Omit<DemoResult, "rolloutId" | "run" | "seconds">;

interface Watch extends Pick<DemoOptions, "onProgress"> {
  readonly admin: Admin;
  readonly rolloutId: number;
  readonly signal: AbortSignal;
}

/** Runs the main process from an admin's upload to devices that have installed it; resolves with both sides' accounts. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const settings = { ...usual, ...options };
  const { baseUrl, careful, dmf, addressFile, onProgress } = options;
  if (careful !== undefined && dmf !== undefined) throw new Error("a careful run is for devices over HTTP: leave out --dmf");
  const say = options.say ?? (() => {});
  const began = Date.now();
  const limits = [AbortSignal.timeout(settings.timeoutMs), ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(limits);
  const http = createHttp(8);
  const admin = createAdmin({ http, baseUrl, user: settings.user, password: options.password, signal });
  await checkServer({ http, admin, baseUrl, user: settings.user }, signal).catch(async (error: unknown) => {
    await http.close();
    throw error;
  });
  const archive = options.file === undefined ? await makeArchive("firmware.tar.gz", archiveSize) : undefined;
  const thingsHttp = createHttp(settings.concurrency);
  let fleet: Fleet | undefined;
  let things: Things | undefined;
  try {
    const file = options.file ?? archive?.file ?? "";
    const kept = addressFile === undefined ? {} : { addressFile };
    const join = async (run: string, ids: readonly string[]): Promise<void> => {
      things = await joinByMessage(run, ids, { ...settings, admin, http: thingsHttp, dmf: dmf ?? true, ...kept, signal, say });
    };
    const plan = { devices: settings.devices, fail: settings.fail, file, careful: careful !== undefined };
    const { rolloutId, run, targets } = await prepare(admin, dmf === undefined ? plan : { ...plan, join }, say);
    const watch = { admin, rolloutId, signal, ...(onProgress === undefined ? {} : { onProgress }) };
    await start(watch);
    for (const line of announcement(settings, rolloutId, run)) say(line);
    if (await hasConsole(http, baseUrl)) say(`watch it at ${baseUrl}/console/rollouts/${rolloutId}`);
    fleet = runFleet(fleetOf(settings, targets));
    const ending = careful === undefined ? await untilFinished(watch, fleet, things) : await untilStopped(watch, fleet);
    return { rolloutId, run, ...ending, seconds: (Date.now() - began) / 1000 };
  } finally {
    await fleet?.stop();
    await things?.stop();
    await thingsHttp.close();
    await http.close();
    await archive?.remove();
  }
}

function announcement({ fail, seed, careful }: Settings, rolloutId: number, run: string): string[] {
  const percent = (share: number): string => `about ${Math.round(share * 100)} % of the devices`;
  const started = `started rollout ${rolloutId} (${run}); ${percent(fail)} will fail, seed ${seed}`;
  if (careful === undefined) return [started];
  return [started, `it has a safety policy, and ${percent(careful)} will report success and fall back to the old version`];
}

function fleetOf(settings: Settings, targets: readonly Target[]): FleetOptions {
  const { baseUrl, tenant, pollSeconds, fail, careful = 0, seed, rangePieces, concurrency } = settings;
  const devices = targets.map(({ controllerId, securityToken }) => ({ controllerId, token: securityToken }));
  return { baseUrl, tenant, devices, pollSeconds, fail, fallBack: careful, seed, rangePieces, concurrency };
}

async function start(watch: Watch): Promise<void> {
  const { admin, rolloutId, signal } = watch;
  await waitFor({ admin, rolloutId, signal }, ["ready"]);
  await admin.command(`rollouts/${rolloutId}/start`, async () => (await readRollout(admin, rolloutId)).status !== "ready");
}

/** Waits for the end of a rollout that reaches all devices, and compares both sides. */
async function untilFinished(watch: Watch, fleet: Fleet, things: Things | undefined): Promise<Ending> {
  await waitFor(watch, ["finished"]);
  const report = await fleet.stop();
  const told = await things?.stop();
  const comparison = await compare(watch.admin, watch.rolloutId, [...report.finals, ...(told?.finals ?? [])]);
  const ok = comparison.differences.length + report.violations.length + (told?.violations.length ?? 0) === 0;
  return { fleet: report, ...(told === undefined ? {} : { things: told }), ...comparison, ok };
}

/** Waits until a rollout with a policy stops by itself; one that finishes instead is not `ok`. */
async function untilStopped(watch: Watch, fleet: Fleet): Promise<Ending> {
  const { admin, rolloutId, signal } = watch;
  await waitFor(watch, ["paused", "finished"]);
  await settled(admin, rolloutId, signal);
  const careful = await readCareful(admin, rolloutId);
  const report = await fleet.stop();
  const differences = compareClaims(careful, report.finals);
  const ok = differences.length + report.violations.length === 0 && stoppedItself(careful);
  return { fleet: report, groups: [], differences, careful, ok };
}

/** Fails with one clear line, and not after minutes of retries, when the server does not run. */
async function checkServer(on: { http: Http; admin: Admin; baseUrl: string; user: string }, signal: AbortSignal): Promise<void> {
  const { http, admin, baseUrl, user } = on;
  try {
    await untilAnswered(() => http.send(`${baseUrl}/livez`), { ms: liveMs, signal });
  } catch (error) {
    throw new Error(`Harrier does not answer at ${baseUrl} (${(error as Error).message}); is npm start running?`);
  }
  await admin.get("userinfo").catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 401 ? new Error(`the password of ${user} is not right`) : error;
  });
}

/** Whether the server has the web console; where it cannot be asked, the demo goes on without its address. */
async function hasConsole(http: Http, baseUrl: string): Promise<boolean> {
  const answer = await http.send(`${baseUrl}/console/`).catch(() => undefined);
  return answer?.status === 200;
}

interface RolloutView {
  readonly status: string;
}

function readRollout(admin: Admin, rolloutId: number): Promise<RolloutView> {
  return admin.get<RolloutView>(`rollouts/${rolloutId}`);
}

/** Reads the status once a second. A status from which the goal cannot be reached ends the wait. */
async function waitFor({ admin, rolloutId, signal, onProgress }: Watch, wanted: readonly string[]): Promise<void> {
  for (;;) {
    const { status } = await readRollout(admin, rolloutId);
    if (onProgress !== undefined) onProgress(status, await readGroups(admin, rolloutId));
    if (wanted.includes(status)) return;
    if (["paused", "stopped", "deleted", "error_creating", "error_starting"].includes(status)) {
      throw new Error(`rollout ${rolloutId} is ${status}; expected ${wanted.join(" or ")}`);
    }
    await sleep(status === "creating" ? 200 : 1_000, undefined, { signal });
  }
}
