import { retryName, shownStatus } from "../rollout/rollout.state.ts";

/** One thing that somebody should look at; the worst first. */
export interface Need {
  readonly kind: "paused" | "ended" | "fails" | "waits" | "failed" | "overdue" | "keyEnds" | "quota";
  readonly id: string;
  readonly name: string;
  readonly detail?: string | undefined;
  readonly count?: number;
}

interface RolloutLike {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly statusReason?: { readonly reason?: string | undefined } | undefined;
  readonly lastError?: { readonly message: string } | undefined;
}

const order: readonly Need["kind"][] = ["paused", "ended", "fails", "waits", "failed", "overdue", "keyEnds", "quota"];
const soonMs = 14 * 86_400_000;
const nearlyUsed = 0.8;

/** What has ended needs nobody for longer than this. */
const endedMs = 7 * 86_400_000;
const hourMs = 3_600_000;

/** The rollouts that ended lately, and those that may be their retries. The moment is that of an hour, so that the query stays the same for as long. */
export function endedQuery(now: number): string {
  return `status=in=(finished,creating,ready);lastmodifiedat=ge=${Math.floor((now - endedMs) / hourMs) * hourMs}`;
}

interface Known {
  readonly rollouts: readonly RolloutLike[];
  /** Devices whose last update failed, and devices that have not polled in time. */
  readonly failed: number;
  readonly overdue: number;
  readonly keys: readonly { readonly id: number; readonly name: string; readonly expiresAt: number }[];
  readonly quotas: readonly { readonly key: string; readonly limit: number; readonly used: number }[];
}

/** Gathers what needs somebody, ordered by the harm that waiting does. */
export function needsOf({ rollouts, failed, overdue, keys, quotas }: Known, now: number): Need[] {
  const needs: Need[] = [];
  const names = new Set(rollouts.map(({ name }) => name));
  for (const { id, name, status, statusReason, lastError } of rollouts) {
    const isBad = shownStatus({ status, reason: statusReason?.reason }) === "finished_failed";
    if (isBad && !names.has(retryName(name))) needs.push({ kind: "ended", id: String(id), name });
    if (status === "paused") needs.push({ kind: "paused", id: String(id), name });
    if (status === "waiting_for_approval") needs.push({ kind: "waits", id: String(id), name });
    if (lastError !== undefined) needs.push({ kind: "fails", id: String(id), name, detail: lastError.message });
  }
  if (failed > 0) needs.push({ kind: "failed", id: "failed", name: "", count: failed });
  if (overdue > 0) needs.push({ kind: "overdue", id: "overdue", name: "", count: overdue });
  for (const { id, name, expiresAt } of keys) if (expiresAt - now < soonMs) needs.push({ kind: "keyEnds", id: String(id), name });
  for (const { key, limit, used } of quotas) {
    if (limit > 0 && used / limit > nearlyUsed) needs.push({ kind: "quota", id: key, name: key, count: used / limit });
  }
  return needs.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}
