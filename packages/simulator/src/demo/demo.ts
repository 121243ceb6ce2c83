import { setTimeout as sleep } from "node:timers/promises";
import { type Fleet, runFleet } from "../fleet.ts";
import { createHttp, type Http, untilAnswered } from "../http.ts";
import type { FleetReport } from "../report.ts";
import type { Things, ThingsReport } from "../things.ts";
import { type Admin, ApiError, createAdmin } from "./admin.ts";
import { makeArchive } from "./archive.ts";
import { joinByMessage } from "./by-message.ts";
import { type Comparison, compare, type GroupView, readGroups } from "./compare.ts";
import { prepare } from "./prepare.ts";

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

/** Runs the main process from an admin's upload to devices that have installed it; resolves with both sides' accounts. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const settings = { ...usual, ...options };
  const say = options.say ?? (() => {});
  const began = Date.now();
  const limits = [AbortSignal.timeout(settings.timeoutMs), ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(limits);
  const http = createHttp(8);
  const admin = createAdmin({ http, baseUrl: options.baseUrl, user: settings.user, password: options.password, signal });
  await checkServer({ http, admin, baseUrl: options.baseUrl, user: settings.user }, signal).catch(async (error: unknown) => {
    await http.close();
    throw error;
  });
  const archive = options.file === undefined ? await makeArchive("firmware.tar.gz", archiveSize) : undefined;
  const thingsHttp = createHttp(settings.concurrency);
  let fleet: Fleet | undefined;
  let things: Things | undefined;
  try {
    const file = options.file ?? archive?.file ?? "";
    const { dmf } = options;
    const join = async (run: string, ids: readonly string[]): Promise<void> => {
      things = await joinByMessage(run, ids, { ...settings, admin, http: thingsHttp, dmf: dmf ?? true, signal, say });
    };
    const plan = { devices: settings.devices, fail: settings.fail, file };
    const prepared = await prepare(admin, dmf === undefined ? plan : { ...plan, join }, say);
    const { rolloutId, run, targets } = prepared;
    await waitFor(admin, rolloutId, ["ready"], signal);
    const start = `rollouts/${rolloutId}/start`;
    await admin.command(start, async () => (await readRollout(admin, rolloutId)).status !== "ready");
    say(
      `started rollout ${rolloutId} (${run}); about ${Math.round(settings.fail * 100)} % of the devices will fail, seed ${settings.seed}`,
    );
    if (await hasConsole(http, options.baseUrl)) say(`watch it at ${options.baseUrl}/console/rollouts/${rolloutId}`);
    fleet = runFleet({
      baseUrl: options.baseUrl,
      ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
      devices: targets.map(({ controllerId, securityToken }) => ({ controllerId, token: securityToken })),
      pollSeconds: settings.pollSeconds,
      fail: settings.fail,
      seed: settings.seed,
      rangePieces: settings.rangePieces,
      concurrency: settings.concurrency,
    });
    await waitFor(admin, rolloutId, ["finished"], signal, options.onProgress);
    const report = await fleet.stop();
    const told = await things?.stop();
    const comparison = await compare(admin, rolloutId, [...report.finals, ...(told?.finals ?? [])]);
    const ok = comparison.differences.length + report.violations.length + (told?.violations.length ?? 0) === 0;
    return {
      rolloutId,
      run,
      fleet: report,
      ...(told === undefined ? {} : { things: told }),
      ...comparison,
      seconds: (Date.now() - began) / 1000,
      ok,
    };
  } finally {
    await fleet?.stop();
    await things?.stop();
    await thingsHttp.close();
    await http.close();
    await archive?.remove();
  }
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
async function waitFor(
  admin: Admin,
  rolloutId: number,
  wanted: readonly string[],
  signal: AbortSignal,
  onProgress?: DemoOptions["onProgress"],
): Promise<void> {
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
