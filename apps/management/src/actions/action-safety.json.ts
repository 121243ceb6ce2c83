import { type ActionSafetyView, outcomeOf, type ProofEnd, type ResolvedPolicy, tally, watchStages } from "@harrier/contracts";
import { optional } from "@harrier/query";

/** What is known of the safety of an action; null for one that has no policy and was never tried again. */
export interface ActionSafetyRow {
  /** Only an answer with one action has it. */
  seen?: { key: string; value: string }[] | null;
  tally: number;
  outcome: number | null;
  attempt: number;
  retryOf: number | null;
  retriedBy: number | null;
  /** It is null while nothing is awaited. Times are in epoch ms. */
  watch: WatchRow | null;
}

interface WatchRow {
  stage: number;
  silent: boolean;
  since: number;
  claimedAt: number | null;
  evidenceAt: number | null;
  polls: number;
  dueAt: number | null;
}

const proofStates: readonly ProofEnd[] = ["proving", "proven", "unproven", "refuted", "void"];
const reasons: readonly ProofEnd[] = ["unproven", "refuted", "timeout", "quota"];
const limitOfStage = ["notFetchedSeconds", "downloadingSeconds", "installingSeconds"] as const;

/** Renders how an action is watched (contract beyond.md §1.4); a list shows stage, state of the proof and attempt alone. */
export function actionSafetyJson(row: ActionSafetyRow, policy: ResolvedPolicy | null, full: boolean): ActionSafetyView {
  const { watch } = row;
  const ended = outcomeOf(row.outcome) ?? (row.tally === tally.proving ? ({ end: "proving", by: "none" } as const) : undefined);
  const stage = watch ? watchStages[watch.stage - 1] : undefined;
  const isProof = ended !== undefined && proofStates.includes(ended.end);
  const brief = { ...optional("stage", stage), attempt: row.attempt };
  if (!full) return { ...brief, ...(isProof && { proof: { state: ended.end as ProofState } }) };
  const waits = stage === "retryWait";
  return {
    ...brief,
    ...optional("since", watch?.since),
    ...optional("silentSince", watch?.silent ? silentSince(watch, policy) : null),
    ...optional(waits ? "nextAttemptAt" : "dueAt", watch?.dueAt),
    ...(isProof && { proof: { state: ended.end as ProofState, by: ended.by, ...(watch && proofOf(watch, policy, row.seen)) } }),
    ...(ended && reasons.includes(ended.end) && { reason: ended.end as NonNullable<ActionSafetyView["reason"]> }),
    ...optional("retryOf", row.retryOf),
    ...optional("retriedBy", row.retriedBy),
  };
}

type ProofState = NonNullable<ActionSafetyView["proof"]>["state"];

/** It became silent when the limit of its stage was over. */
function silentSince({ stage, since }: WatchRow, policy: ResolvedPolicy | null): number | null {
  const name = limitOfStage[stage - 1];
  const seconds = name && policy?.limits?.[name];
  return seconds === undefined ? null : since + seconds * 1_000;
}

function proofOf({ claimedAt, evidenceAt, polls }: WatchRow, policy: ResolvedPolicy | null, seen: ActionSafetyRow["seen"]) {
  if (claimedAt === null) return {};
  const proof = policy?.proof;
  return {
    claimedAt,
    ...optional("evidenceAt", evidenceAt),
    polls,
    ...(proof && { deadline: claimedAt + proof.withinSeconds * 1_000 }),
    ...(proof && proof.expected.length > 0 && { expected: proof.expected, ...optional("seen", seen) }),
  };
}
