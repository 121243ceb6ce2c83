import { type ActionStatusName, type ResolvedPolicy, type WatchStage, watchStageCode } from "@harrier/contracts";
import { decideWatch, stageAfter, type WatchEvent, type WatchVerdict } from "../domain/watch.ts";
import { retrySeconds, type Step } from "./steps.fixture.ts";

/*
 * One watched action as a pure model: the table of domain/watch.ts decides, and what its verdicts do is written once more here. model.db.test.ts compares
 * it with the database (contract beyond.md, case 1.25).
 */

interface Watch {
  stage: WatchStage;
  silent: boolean;
  began: number;
  since: number;
  claimedAt: number;
  countsFrom: number;
  evidenceAt: number | null;
  polls: number;
  wantsPolls: boolean;
}

/** What is compared: the action, its watch, and its target. Sets are told apart as the new one and the one from before. */
export interface Model {
  status: "RUNNING" | "RETRIEVED" | "FINISHED" | "ERROR";
  active: boolean;
  tally: "plain" | "proving" | "void" | "silent" | "retrying";
  ended: "proven" | "unproven" | "refuted" | "void" | "timeout" | null;
  /** Its next attempt has begun, and nothing more is asked of this one. */
  succeeded: boolean;
  assigned: "new" | null;
  installed: "new" | "before";
  target: "pending" | "in_sync" | "error";
  watch: Watch | null;
  lastEntry: ActionStatusName | null;
  /** Seconds; only steps move it. */
  now: number;
}

export const started: Model = {
  status: "RUNNING",
  active: true,
  tally: "plain",
  ended: null,
  assigned: "new",
  installed: "before",
  target: "pending",
  succeeded: false,
  watch: {
    stage: "notFetched",
    silent: false,
    began: 0,
    since: 0,
    claimedAt: 0,
    countsFrom: 0,
    evidenceAt: null,
    polls: 0,
    wantsPolls: false,
  },
  lastEntry: "RUNNING",
  now: 0,
};

/** Returns the model after a step. */
export function take(model: Model, policy: ResolvedPolicy, step: Step): Model {
  switch (step.kind) {
    case "report":
      return model.active ? report(model, policy, step) : model;
    case "look":
      return model.active && model.lastEntry !== "RETRIEVED" ? retrieved(model) : model;
    case "poll":
      return polled(model, policy);
    case "settle":
      return model.watch !== null && dueAt(model.watch, policy) <= model.now ? carryOut(model, policy, "due") : model;
    case "shows":
      if (step.what === "else" || proofOf(policy).expected.length === 0) return model;
      return carryOut(model, policy, step.what === "new" ? "match" : "contradiction");
    case "runs":
      return carryOut(model, policy, step.same ? "match" : "contradiction");
    case "person":
      return carryOut(model, policy, step.proven ? "personProven" : "personRefuted");
    case "another":
      return carryOut(model, policy, "otherClaimed");
    case "time":
      return { ...model, now: model.now + step.seconds };
  }
}

const proofOf = (policy: ResolvedPolicy) => policy.proof as NonNullable<ResolvedPolicy["proof"]>;
const isOpen = ({ stage }: Watch): boolean => watchStageCode(stage) <= 3;

function limitOf({ stage }: Watch, policy: ResolvedPolicy): number {
  const { notFetchedSeconds: notFetched, downloadingSeconds: downloading, installingSeconds: installing } = policy.limits ?? {};
  const seconds = { notFetched, downloading, installing } as Partial<Record<WatchStage, number>>;
  return seconds[stage] ?? Number.POSITIVE_INFINITY;
}

const pollsWanted = (policy: ResolvedPolicy): number => {
  const { require, stable } = proofOf(policy);
  return require === "alive" ? Math.max(stable.polls, 1) : stable.polls;
};

function isStable(watch: Watch, policy: ResolvedPolicy, now: number): boolean {
  return watch.polls >= pollsWanted(policy) && watch.evidenceAt !== null && now >= watch.evidenceAt + proofOf(policy).stable.minutes * 60;
}

function dueAt(watch: Watch, policy: ResolvedPolicy): number {
  const { withinSeconds, stable, watchHours } = proofOf(policy);
  if (isOpen(watch)) {
    const stageEnds = watch.silent ? Number.POSITIVE_INFINITY : watch.since + limitOf(watch, policy);
    return Math.min(stageEnds, watch.began + (policy.limits?.giveUpSeconds ?? Number.POSITIVE_INFINITY));
  }
  if (watch.stage === "watched") return watch.since + watchHours * 3_600;
  if (watch.stage === "retryWait") return watch.since + retrySeconds;
  const proven =
    watch.stage === "observing" && watch.polls >= pollsWanted(policy)
      ? (watch.evidenceAt ?? 0) + stable.minutes * 60
      : Number.POSITIVE_INFINITY;
  return Math.min(watch.claimedAt + withinSeconds, proven);
}

function report(model: Model, policy: ResolvedPolicy, { execution, result }: Extract<Step, { kind: "report" }>): Model {
  const { now, watch } = model;
  if (execution === "closed") {
    if (result === "failure") {
      const failed = { status: "ERROR", active: false, assigned: null, target: "error", lastEntry: "ERROR" } as const;
      return { ...model, ...failed, ...(policy.retry ? waiting(watch as Watch, now) : { tally: "plain", watch: null }) };
    }
    const alive = proofOf(policy).require === "alive";
    const claim = {
      claimedAt: now,
      countsFrom: alive ? now + proofOf(policy).graceSeconds : 0,
      wantsPolls: alive,
      polls: 0,
      evidenceAt: null,
    };
    const claimed: Watch = { ...(watch as Watch), ...claim, stage: "rebooting", silent: false, since: now };
    return { ...model, status: "FINISHED", active: false, tally: "proving", watch: claimed, lastEntry: "FINISHED" };
  }
  const entry = ({ proceeding: "RUNNING", download: "DOWNLOAD", downloaded: "DOWNLOADED" } as const)[execution];
  const stage = stageAfter((watch as Watch).stage, entry);
  const status = execution === "proceeding" ? "RUNNING" : model.status;
  return { ...model, status, tally: "plain", lastEntry: entry, watch: heard(watch as Watch, stage, now) };
}

/** The action has failed and waits for its next attempt. */
function waiting(watch: Watch, now: number): Pick<Model, "tally" | "watch"> {
  return { tally: "retrying", watch: { ...watch, stage: "retryWait", silent: false, since: now, wantsPolls: false } };
}

/** The device was heard of: it is not silent, and its stage begins again where it was. */
function heard(watch: Watch, stage: WatchStage, now: number): Watch {
  return { ...watch, stage, silent: false, since: stage !== watch.stage || watch.silent ? now : watch.since };
}

function retrieved(model: Model): Model {
  const watch = model.watch as Watch;
  const stage = watch.stage === "notFetched" ? "downloading" : watch.stage;
  return { ...model, status: "RETRIEVED", tally: "plain", lastEntry: "RETRIEVED", watch: heard(watch, stage, model.now) };
}

function polled(model: Model, policy: ResolvedPolicy): Model {
  const { watch, now } = model;
  if (watch === null || !watch.wantsPolls || now < watch.countsFrom) return model;
  const polls = watch.polls + 1;
  const begun = watch.stage === "rebooting" ? { stage: "observing" as const, since: now } : {};
  return { ...model, watch: { ...watch, ...begun, polls, evidenceAt: watch.evidenceAt ?? now, wantsPolls: polls < pollsWanted(policy) } };
}

function carryOut(model: Model, policy: ResolvedPolicy, event: WatchEvent): Model {
  const { watch, now } = model;
  if (watch === null) return model;
  const { graceSeconds, withinSeconds, onExpiry, watchHours, require } = proofOf(policy);
  const claimed = !isOpen(watch);
  const limit = watch.stage === "watched" ? watchHours * 3_600 : limitOf(watch, policy);
  const verdict: WatchVerdict = decideWatch(watch.stage, event, {
    afterGrace: claimed && now >= watch.claimedAt + graceSeconds,
    stable: isStable(watch, policy, now),
    withinOver: claimed && now >= watch.claimedAt + withinSeconds,
    acceptsUnproven: onExpiry === "success",
    givenUp: now >= watch.began + (policy.limits?.giveUpSeconds ?? Number.POSITIVE_INFINITY),
    stageOver: now >= watch.since + limit,
    silent: watch.silent,
  });
  const after = policy.retry?.onSilent ? waiting(watch, now) : ({ tally: "plain", watch: null } as const);
  const failed = { status: "ERROR", active: false, assigned: null, target: "error", ...after } as const;
  const succeeded = { status: "FINISHED", tally: "plain", installed: "new", target: "in_sync" } as const;
  switch (verdict) {
    case "observe":
      return {
        ...model,
        watch: {
          ...watch,
          stage: "observing",
          since: now,
          evidenceAt: now,
          polls: 0,
          countsFrom: now,
          wantsPolls: pollsWanted(policy) > 0,
        },
      };
    case "reboot": {
      const since = watch.stage === "rebooting" ? watch.since : now;
      return { ...model, watch: { ...watch, stage: "rebooting", since, evidenceAt: null, polls: 0, wantsPolls: require === "alive" } };
    }
    case "prove":
      return {
        ...model,
        ...succeeded,
        ended: "proven",
        watch: watchHours > 0 ? { ...watch, stage: "watched", since: now, wantsPolls: false } : null,
      };
    case "accept":
      return { ...model, ...succeeded, ended: "unproven", watch: null };
    case "expire":
      return { ...model, ...failed, ended: "unproven" };
    case "refute":
      return { ...model, ...failed, ended: "refuted", installed: "before" };
    case "giveUp":
      return { ...model, ...failed, ended: "timeout" };
    case "silence":
      return { ...model, tally: "silent", watch: { ...watch, silent: true }, lastEntry: "WARNING" };
    case "void":
      return { ...model, tally: "void", ended: "void", watch: null };
    case "retry":
      // A new action, with its set assigned again.
      return { ...model, tally: "plain", watch: null, assigned: "new", target: "pending", succeeded: true };
    case "end":
      return { ...model, watch: null };
    default:
      return model;
  }
}
