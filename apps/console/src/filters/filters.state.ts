import type { TargetFilterView } from "@harrier/contracts";
import { savedFilters as t } from "../text/en.ts";
import type { Sign } from "../ui/signs.ts";

/** How the states of an auto-assignment are shown. */
export const assignmentSigns: Readonly<Record<string, Sign>> = {
  running: { sign: "▸", tone: "run" },
  waiting_for_approval: { sign: "?", tone: "warn" },
  approval_denied: { sign: "⊘", tone: "deny" },
  ready: { sign: "○", tone: "wait" },
  paused: { sign: "‖", tone: "warn" },
  off: { sign: "–", tone: "wait" },
};

export type AssignmentStep = "start" | "pause" | "resume" | "approve" | "deny";

/** The steps that are possible in each state of an auto-assignment (contract management.md §11). */
export function stepsOf(status: string): readonly AssignmentStep[] {
  if (status === "waiting_for_approval") return ["approve", "deny"];
  if (status === "ready") return ["start"];
  if (status === "running") return ["pause"];
  return status === "paused" ? ["resume"] : [];
}

/** What a filter does at present: those whose approval was never asked for have no status of their own. */
export function statusOf(filter: {
  readonly autoAssignDistributionSet: number | null;
  readonly autoAssignStatus?: string | undefined;
}): string {
  return filter.autoAssignDistributionSet === null ? "off" : (filter.autoAssignStatus ?? "running");
}

/** The query for names that contain a text; nothing for no text. */
export function byName(text: string | undefined): string | undefined {
  const trimmed = (text ?? "").trim();
  return trimmed === "" ? undefined : `name==${JSON.stringify(`*${trimmed}*`)}`;
}

/** Answers the weight that was typed, or undefined if it is none: 0 to 1000 (spec 001 §2.5). */
export function weightOf(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= 1000 ? value : undefined;
}

/** What the form of an auto-assignment shows. */
export interface Draft {
  readonly set: string;
  readonly type: string;
  readonly weight: string;
  readonly asks: boolean;
}

type Assigning = Pick<
  TargetFilterView,
  | "autoAssignDistributionSet"
  | "autoAssignActionType"
  | "autoAssignWeight"
  | "confirmationRequired"
  | "autoAssignMaintenanceWindow"
  | "autoAssignSafety"
>;

export const draftOf = (filter: Assigning): Draft => ({
  set: String(filter.autoAssignDistributionSet ?? ""),
  type: filter.autoAssignActionType ?? "forced",
  weight: String(filter.autoAssignWeight ?? 1000),
  asks: filter.confirmationRequired ?? false,
});

/** What an auto-assignment has and the form does not change, in words. */
export function keptOf({ autoAssignSafety: safety, autoAssignMaintenanceWindow: window }: Assigning): [string, string | undefined][] {
  return [
    [t.policy, safety && (safety.policy ?? t.ownPolicy)],
    [t.window, window && `${window.schedule} ${window.duration} ${window.timezone}`],
  ];
}

/**
 * The body that lets a filter assign a set. It replaces what was there, so that policy and maintenance window go with it; one without a policy stays
 * without, whatever the tenant gives new ones. Whether devices confirm is sent where it is shown or was chosen: the tenant decides otherwise.
 */
export function bodyOf(filter: Assigning, { set, type, weight, asks }: Draft, changed: Partial<Draft>) {
  const { autoAssignDistributionSet: before, autoAssignMaintenanceWindow: window, autoAssignSafety: safety } = filter;
  return {
    id: Number(set),
    type: type as "forced",
    weight: weightOf(weight) ?? 1000,
    ...((filter.confirmationRequired !== null || changed.asks !== undefined) && { confirmationRequired: asks }),
    ...(window && { maintenanceWindow: window }),
    ...(before !== null && { safety: safety ?? { policy: "none" } }),
  };
}
