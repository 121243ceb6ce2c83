import { setTimeout as sleep } from "node:timers/promises";
import type { FinalReport } from "../report.ts";
import type { Admin, Page } from "./admin.ts";
import { type GroupView, readGroups } from "./compare.ts";

/** What the server says of a group whose devices have to prove their success. */
export interface CarefulGroup {
  readonly name: string;
  readonly status: string;
  readonly totalTargets: number;
  /** Devices that reported success: a server that believes them would count these as done. */
  readonly saidSuccess: number;
  readonly proven: number;
  /** Devices that showed the old version after their success. */
  readonly fellBack: number;
  /** Devices that reported a failure themselves. */
  readonly failed: number;
  readonly notStarted: number;
}

export interface CarefulResult {
  readonly status: string;
  /** Why it has this status, as `statusReason.reason` of the rollout says. */
  readonly reason?: string;
  readonly groups: readonly CarefulGroup[];
}

interface RolloutView {
  readonly status: string;
  readonly statusReason?: { readonly reason?: string };
}

/** Waits until nothing that has begun is open, neither an update nor its proof, so that every device that got the update is counted for good. */
export async function settled(admin: Admin, rolloutId: number, signal: AbortSignal): Promise<void> {
  while ((await readGroups(admin, rolloutId)).some(({ totalTargetsPerStatus }) => totalTargetsPerStatus.running > 0)) {
    await sleep(1_000, undefined, { signal });
  }
}

/** Reads how the server counts the devices of a rollout with a policy. Call it when the rollout is settled. */
export async function readCareful(admin: Admin, rolloutId: number): Promise<CarefulResult> {
  const [{ status, statusReason }, groups] = await Promise.all([
    admin.get<RolloutView>(`rollouts/${rolloutId}`),
    readGroups(admin, rolloutId),
  ]);
  const reason = statusReason?.reason;
  // The demo's rollouts have three groups.
  const counted = await Promise.all(groups.map((group) => readGroup(admin, group)));
  return { status, ...(reason === undefined ? {} : { reason }), groups: counted };
}

async function readGroup(admin: Admin, { id, name, status, totalTargets, totalTargetsPerStatus }: GroupView): Promise<CarefulGroup> {
  const query = encodeURIComponent(`rolloutgroup.id==${id};proof==refuted`);
  const { total: fellBack } = await admin.get<Page<unknown>>(`actions?limit=1&q=${query}`);
  const { finished: proven, error, scheduled, notstarted } = totalTargetsPerStatus;
  const counts = { saidSuccess: proven + fellBack, proven, fellBack, failed: error - fellBack, notStarted: scheduled + notstarted };
  return { name, status, totalTargets, ...counts };
}

/** Compares how many devices were told that their success was received with how many the server has counted, proven or not. */
export function compareClaims({ groups }: CarefulResult, finals: readonly FinalReport[]): string[] {
  const own = finals.filter(({ outcome }) => outcome === "success").length;
  const theirs = groups.reduce((sum, { saidSuccess }) => sum + saidSuccess, 0);
  return own === theirs ? [] : [`${own} devices said success, the API counts ${theirs} as proven or fallen back`];
}

/** Whether the rollout has stopped because devices fell back, before the last group got anything. */
export function stoppedItself({ status, reason, groups }: CarefulResult): boolean {
  const last = groups.at(-1);
  const spared = last !== undefined && last.notStarted === last.totalTargets;
  return status === "paused" && reason === "error_threshold" && spared && groups.some(({ fellBack }) => fellBack > 0);
}

/** The table of a careful run, a line for each group. */
export function carefulTable({ groups }: CarefulResult): string[] {
  const heads = ["group", "devices", "say success", "proven", "fell back", "failed", "not begun", "group is"];
  const rows = groups.map((group) => {
    const { name, totalTargets, saidSuccess, proven, fellBack, failed, notStarted, status } = group;
    return [name, totalTargets, saidSuccess, proven, fellBack, failed, notStarted, status];
  });
  return [heads, ...rows].map((cells) => {
    const padded = cells.map((cell) => String(cell).padEnd(13));
    return padded.join("").trimEnd();
  });
}
