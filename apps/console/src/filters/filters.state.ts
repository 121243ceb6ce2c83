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
