import type { ResponseOf } from "@harrier/contracts";
import type { r } from "../routes.ts";

/** What is asked of a device that gets no update, what the server shows of it, and whether this holds an update up. */
export interface Check {
  readonly check: string;
  /** `ok`, `no` (it holds updates up), `wait` (it goes on by itself), or `unknown`. */
  readonly state: "ok" | "no" | "wait" | "unknown";
  readonly text: string;
}

type Target = ResponseOf<typeof r.targets.get>;
type Action = ResponseOf<typeof r.actions.get>;
type AutoConfirm = ResponseOf<typeof r.targets.autoConfirm>;

/** What is known of a target: `action` is the one that a poll meets first, `rollout` the status of the rollout that has made it. */
export interface Seen {
  readonly target: Target;
  readonly action?: Action | undefined;
  readonly rollout?: { readonly status: string } | undefined;
  readonly autoConfirm?: AutoConfirm | undefined;
  /** Epoch ms. */
  readonly now: number;
}

const nameOf = (set: { name: string; version: string } | undefined): string =>
  set === undefined ? "nothing" : `${set.name}:${set.version}`;
const at = (time: number): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, "Z");

/** Goes through what may hold an update up, in the order in which a poll meets it (contract console.md §5). */
export function checksOf(seen: Seen): Check[] {
  return [polls(seen), assigned(seen), begun(seen), confirmed(seen), inWindow(seen), notCancelled(seen), installed(seen)].filter(
    (check) => check !== undefined,
  );
}

function polls({ target: { lastControllerRequestAt: last, pollStatus } }: Seen): Check {
  const check = "polls";
  if (last === undefined) return { check, state: "no", text: "it has never asked" };
  if (pollStatus?.overdue)
    return { check, state: "no", text: `overdue: last at ${at(last)}, expected by ${at(pollStatus.nextExpectedRequestAt)}` };
  return { check, state: "ok", text: `last at ${at(last)}` };
}

function assigned({ target, action }: Seen): Check {
  const check = "assigned";
  if (action !== undefined) return { check, state: "ok", text: `action ${action.id} delivers ${nameOf(action.distributionSet)}` };
  const set = target.assignedSet;
  if (set === undefined) return { check, state: "no", text: "no set is assigned, and no action is open" };
  return { check, state: "ok", text: `${nameOf(set)}; no action is open` };
}

function begun({ action, rollout }: Seen): Check | undefined {
  if (action?.rollout === undefined) return undefined;
  const check = "rollout";
  const name = action.rolloutName ?? String(action.rollout);
  if (rollout === undefined) return { check, state: "unknown", text: `${name} is not shown to you` };
  if (action.detailStatus === "scheduled") {
    const goesOn = ["running", "starting", "waiting_for_next_group"].includes(rollout.status);
    return { check, state: goesOn ? "wait" : "no", text: `its group of ${name} has not begun, and ${name} is ${rollout.status}` };
  }
  return { check, state: "ok", text: `${name} is ${rollout.status}` };
}

function confirmed({ action, autoConfirm }: Seen): Check | undefined {
  if (action?.detailStatus !== "wait_for_confirmation") return undefined;
  const text =
    autoConfirm?.active === true ? "it waits for a confirmation although the target confirms by itself" : "it waits for a confirmation";
  return { check: "confirmation", state: "no", text };
}

function inWindow({ action, now }: Seen): Check | undefined {
  const window = action?.maintenanceWindow;
  if (window === undefined) return undefined;
  const check = "window";
  if (window.nextStartAt === 0) return { check, state: "no", text: "no maintenance window comes any more" };
  if (window.nextStartAt > now) return { check, state: "wait", text: `the next maintenance window begins at ${at(window.nextStartAt)}` };
  return { check, state: "ok", text: `open since ${at(window.nextStartAt)}` };
}

function notCancelled({ action }: Seen): Check | undefined {
  if (action === undefined) return undefined;
  if (action.type !== "cancel" && action.detailStatus !== "canceling") return undefined;
  return { check: "cancellation", state: "no", text: "the device is asked to give this update up, and has not answered" };
}

function installed({ target, action }: Seen): Check | undefined {
  const { assignedSet, installedSet } = target;
  if (action !== undefined || assignedSet === undefined) return undefined;
  const check = "installed";
  if (installedSet?.id === assignedSet.id) return { check, state: "ok", text: `${nameOf(installedSet)}: there is nothing to do` };
  return {
    check,
    state: "no",
    text: `${nameOf(installedSet)} is installed, and nothing delivers ${nameOf(assignedSet)}: see target history`,
  };
}
