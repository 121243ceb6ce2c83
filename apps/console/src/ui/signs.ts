export type Tone = "ok" | "bad" | "run" | "wait" | "warn" | "deny";

/** How a state is shown: a sign and a colour, never the colour alone. It is the one table of all pages. */
export interface Sign {
  readonly sign: string;
  readonly tone: Tone;
}

const ok: Sign = { sign: "✓", tone: "ok" };
const bad: Sign = { sign: "✕", tone: "bad" };
const run: Sign = { sign: "▸", tone: "run" };
const wait: Sign = { sign: "○", tone: "wait" };
const scheduled: Sign = { sign: "◷", tone: "wait" };
const off: Sign = { sign: "–", tone: "wait" };
const silent: Sign = { sign: "?", tone: "warn" };
const denied: Sign = { sign: "⊘", tone: "deny" };
const paused: Sign = { sign: "‖", tone: "warn" };

export const rolloutSigns: Readonly<Record<string, Sign>> = {
  creating: scheduled,
  ready: wait,
  waiting_for_approval: silent,
  approval_denied: denied,
  starting: run,
  running: run,
  paused,
  stopping: off,
  stopped: bad,
  finished: ok,
  finished_failed: bad,
  deleting: off,
  deleted: off,
  scheduled,
  error: bad,
};

export const targetSigns: Readonly<Record<string, Sign>> = {
  unknown: silent,
  registered: wait,
  pending: run,
  in_sync: ok,
  error: bad,
};

export const actionSigns: Readonly<Record<string, Sign>> = {
  finished: ok,
  error: bad,
  warning: silent,
  running: run,
  canceled: off,
  canceling: off,
  retrieved: run,
  download: run,
  downloaded: run,
  scheduled,
  cancel_rejected: silent,
  wait_for_confirmation: silent,
};

export const bucketOrder = ["finished", "error", "running", "scheduled", "notstarted", "cancelled"] as const;
export type BucketName = (typeof bucketOrder)[number];
export type Totals = Readonly<Record<BucketName, number>>;

/** The buckets that hold something, each with its share of the whole. */
export function shares(totals: Totals): { bucket: BucketName; value: number; share: number }[] {
  const sum = bucketOrder.reduce((all, bucket) => all + totals[bucket], 0);
  return bucketOrder
    .filter((bucket) => totals[bucket] > 0)
    .map((bucket) => ({ bucket, value: totals[bucket], share: totals[bucket] / sum }));
}
