/** The query of the updates of a device that have not ended: open ones, and those that their rollout has not begun yet, which are no open ones. */
export const beforeEnd = "active==true,detailstatus==scheduled";

interface ActionLike {
  readonly active: boolean;
}

/** Tells what a device is offered from what waits for its group. */
export function partsOf<Action extends ActionLike>(actions: readonly Action[]): { open: Action[]; waiting: Action[] } {
  return { open: actions.filter(({ active }) => active), waiting: actions.filter(({ active }) => !active) };
}

interface NamedAction {
  readonly id: number;
  readonly distributionSet?: { readonly name: string; readonly version: string } | undefined;
}

/** What an update is called: its set, or its number where the set is not told. */
export const titleOf = ({ id, distributionSet: set }: NamedAction): string => (set === undefined ? `#${id}` : `${set.name} ${set.version}`);

/** What an entry of an action's history says. */
export interface Entry {
  readonly type: string;
  readonly reportedAt: number;
}

export type Stage = "queued" | "fetched" | "downloading" | "installing" | "done";
export const stages: readonly Stage[] = ["queued", "fetched", "downloading", "installing", "done"];

const stageOf: Readonly<Record<string, Stage>> = {
  scheduled: "queued",
  wait_for_confirmation: "queued",
  retrieved: "fetched",
  download: "downloading",
  downloaded: "downloading",
  warning: "installing",
  finished: "done",
  error: "done",
  canceled: "done",
};

/**
 * When an action reached each of its stages, by its history, the oldest entry first. The server's own `running` entry opens the history; every later
 * one is a word of the device, which installs.
 */
export function stageTimes(createdAt: number, entries: readonly Entry[]): Partial<Record<Stage, number>> {
  const times: Partial<Record<Stage, number>> = { queued: createdAt };
  const sorted = entries.toSorted((a, b) => a.reportedAt - b.reportedAt);
  sorted.forEach(({ type, reportedAt }, index) => {
    const fetched = times.fetched !== undefined || times.downloading !== undefined;
    const stage = type === "running" ? (index > 0 && fetched ? "installing" : "queued") : stageOf[type];
    if (stage !== undefined) times[stage] ??= reportedAt;
  });
  return times;
}

/** The furthest stage that was reached. */
export function reached(times: Partial<Record<Stage, number>>): Stage {
  return stages.findLast((stage) => times[stage] !== undefined) ?? "queued";
}
