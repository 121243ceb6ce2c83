import { type ActionStatusName, type WatchStage, watchStageCode } from "@harrier/contracts";

/**
 * These tables say what becomes of a watched action (contract beyond.md §1.3, §2). They are read by `decideWatch` and by the generator of the SQL
 * function `decide_watch` (watch-function.sql.ts); nothing else in this app decides about a watch.
 */

/** What can happen to a watched action; SQL uses the place in the list as the code. */
export const watchEvents = ["match", "contradiction", "due", "personProven", "personRefuted", "otherClaimed"] as const;
export type WatchEvent = (typeof watchEvents)[number];

/** What is true of the watch at the moment of the event; SQL passes them in this order. */
export const watchFacts = ["afterGrace", "stable", "withinOver", "acceptsUnproven", "givenUp", "stageOver", "silent"] as const;
export type WatchFact = (typeof watchFacts)[number];
export type WatchFacts = Readonly<Record<WatchFact, boolean>>;

/**
 * `observe`, `reboot`: the stage changes. `prove`, `accept` (unproven, but counts), `refute`, `expire`, `void`: the proof ends. `silence`, `giveUp`: a
 * limit is over. `end`: the watch ends without a change of its action. `wait`: its clock is set again. `retry`: the next attempt is due.
 */
export const watchVerdicts = [
  "ignore",
  "observe",
  "reboot",
  "prove",
  "accept",
  "refute",
  "expire",
  "void",
  "silence",
  "giveUp",
  "end",
  "wait",
  "retry",
] as const;
export type WatchVerdict = (typeof watchVerdicts)[number];

export interface WatchRule {
  readonly event: WatchEvent;
  readonly stages: readonly WatchStage[];
  /** All of these hold. */
  readonly when?: readonly WatchFact[];
  /** None of these holds. */
  readonly unless?: readonly WatchFact[];
  readonly verdict: WatchVerdict;
}

const open = ["notFetched", "downloading", "installing"] as const;
const proving = ["rebooting", "observing"] as const;

/** The first match decides; without one the event is ignored. */
export const watchRules: readonly WatchRule[] = [
  { event: "match", stages: ["rebooting"], verdict: "observe" },
  // Before its restart a device still shows the old version: that is no contradiction yet.
  { event: "contradiction", stages: proving, unless: ["afterGrace"], verdict: "reboot" },
  { event: "contradiction", stages: [...proving, "watched"], verdict: "refute" },
  { event: "personProven", stages: proving, verdict: "prove" },
  { event: "personProven", stages: ["watched"], verdict: "end" },
  { event: "personRefuted", stages: [...proving, "watched"], verdict: "refute" },
  { event: "otherClaimed", stages: proving, verdict: "void" },
  { event: "otherClaimed", stages: ["watched"], verdict: "end" },
  { event: "due", stages: ["observing"], when: ["stable"], verdict: "prove" },
  { event: "due", stages: proving, when: ["withinOver", "acceptsUnproven"], verdict: "accept" },
  { event: "due", stages: proving, when: ["withinOver"], verdict: "expire" },
  { event: "due", stages: ["watched"], when: ["stageOver"], verdict: "end" },
  { event: "due", stages: open, when: ["givenUp"], verdict: "giveUp" },
  { event: "due", stages: open, when: ["stageOver"], unless: ["silent"], verdict: "silence" },
  { event: "due", stages: ["retryWait"], verdict: "retry" },
  { event: "due", stages: [...open, ...proving, "watched"], verdict: "wait" },
];

/** Decides what an event does to a watch in this stage. */
export function decideWatch(stage: WatchStage, event: WatchEvent, facts: WatchFacts): WatchVerdict {
  const rule = watchRules.find(
    (r) =>
      r.event === event &&
      r.stages.includes(stage) &&
      (r.when ?? []).every((fact) => facts[fact]) &&
      !(r.unless ?? []).some((fact) => facts[fact]),
  );
  return rule?.verdict ?? "ignore";
}

/** The stage that an entry of the device begins; one that lies before the present stage changes nothing. */
export const stageOfEntry: Partial<Record<ActionStatusName, WatchStage>> = {
  RETRIEVED: "downloading",
  DOWNLOAD: "downloading",
  DOWNLOADED: "installing",
  RUNNING: "installing",
  WARNING: "installing",
};

/** Returns the stage of an open action after an entry of its device. */
export function stageAfter(stage: WatchStage, entry: ActionStatusName): WatchStage {
  const begun = stageOfEntry[entry];
  return begun !== undefined && watchStageCode(begun) > watchStageCode(stage) ? begun : stage;
}
