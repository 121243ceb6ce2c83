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
