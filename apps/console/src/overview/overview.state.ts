/** One thing that somebody should look at; the worst first. */
export interface Need {
  readonly kind: "paused" | "fails" | "waits" | "overdue" | "keyEnds" | "quota";
  readonly id: string;
  readonly name: string;
  readonly detail?: string | undefined;
  readonly count?: number;
}

interface RolloutLike {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly lastError?: { readonly message: string } | undefined;
}

const order: readonly Need["kind"][] = ["paused", "fails", "waits", "overdue", "keyEnds", "quota"];
const soonMs = 14 * 86_400_000;
const nearlyUsed = 0.8;

interface Known {
  readonly rollouts: readonly RolloutLike[];
  readonly overdue: number;
  readonly keys: readonly { readonly id: number; readonly name: string; readonly expiresAt: number }[];
  readonly quotas: readonly { readonly key: string; readonly limit: number; readonly used: number }[];
}

/** Gathers what needs somebody, ordered by the harm that waiting does. */
export function needsOf({ rollouts, overdue, keys, quotas }: Known, now: number): Need[] {
  const needs: Need[] = [];
  for (const { id, name, status, lastError } of rollouts) {
    if (status === "paused") needs.push({ kind: "paused", id: String(id), name });
    if (status === "waiting_for_approval") needs.push({ kind: "waits", id: String(id), name });
    if (lastError !== undefined) needs.push({ kind: "fails", id: String(id), name, detail: lastError.message });
  }
  if (overdue > 0) needs.push({ kind: "overdue", id: "overdue", name: "", count: overdue });
  for (const { id, name, expiresAt } of keys) if (expiresAt - now < soonMs) needs.push({ kind: "keyEnds", id: String(id), name });
  for (const { key, limit, used } of quotas) {
    if (limit > 0 && used / limit > nearlyUsed) needs.push({ kind: "quota", id: key, name: key, count: used / limit });
  }
  return needs.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}
