import {
  type ActionStatus,
  actionStatus,
  type Bucket,
  type ForceType,
  forceType,
  type UpdateStatus,
  updateStatus,
} from "@harrier/contracts";
import { bucketOf } from "./codes.ts";
import {
  type Channel,
  type Execution,
  effectOf,
  endsAction,
  gates,
  type Outcome,
  type Result,
  type Rule,
  ruleOf,
  type TargetEffect,
} from "./transitions.ts";

export interface ActionState {
  id: number;
  setId: number;
  status: ActionStatus;
  active: boolean;
  forceType: ForceType;
  revision: number;
  lastStatusCode: number | null;
  /** True if the action was created while the tenant had multi-assignment. */
  multiAssignment: boolean;
}

export interface TargetState {
  updateStatus: UpdateStatus;
  assignedSetId: number | null;
  installedSetId: number | null;
  /** The newest FINISHED action of the installed set, to which the `installedBase` link leads. */
  installedActionId: number | null;
  requestAttributes: boolean;
}

/** Everything that a decision may depend on where no action of the target has a safety policy. */
export interface Situation {
  action: ActionState;
  target: TargetState;
  /** The other actions of the target. */
  others: readonly { id: number; setId: number; status: ActionStatus; active: boolean }[];
}

export interface Report {
  channel: Channel;
  execution: Execution;
  result: Result;
  code: number | null;
  /** The number of messages of the entry, after splitting and with the server's own. */
  messageCount: number;
}

/** A limit of 0 or less means none. */
export interface ReportLimits {
  entries: number;
  messages: number;
}

export type Decision =
  | { outcome: Exclude<Outcome, "ok"> }
  | { outcome: "ok"; changed: false }
  | {
      outcome: "ok";
      changed: true;
      action: ActionState;
      target: TargetState;
      entry: ActionStatus;
      moved: { from: Bucket; to: Bucket } | null;
    };

/**
 * The state machine (contract device.md §7) as one pure function. Where no action of the target has a safety policy, the SQL function `report`
 * gives the same answers, which is tested cell by cell. For an action with a policy it also asks `watch_report` (functions/watches.sql), which may put
 * another effect in the place of the rule's and says how the action counts (its tally); and an update that is claimed and not proven yet counts as open
 * (`proving_set`). The model of src/watches covers these.
 */
export function decideReport(situation: Situation, report: Report, limits: ReportLimits): Decision {
  const { action } = situation;
  const verdict = verdictOf(report.channel, action);
  if (verdict === "ignore" || verdict === "ok") return { outcome: "ok", changed: false };
  if (verdict !== "proceed") return { outcome: verdict };
  const rule = ruleOf(report, action.forceType === forceType.downloadonly);
  if (!rule.messagesFree && limits.messages > 0 && report.messageCount > limits.messages) return { outcome: "tooManyMessages" };
  if (!rule.entriesFree && limits.entries > 0 && action.revision >= limits.entries) return { outcome: "tooManyEntries" };
  const status = nextStatus(rule, action.status);
  const from = bucketOf(action.status, action.forceType);
  const to = bucketOf(status, action.forceType);
  return {
    outcome: "ok",
    changed: true,
    entry: actionStatus[rule.entry],
    action: { ...action, status, active: !endsAction(status), revision: action.revision + 1, lastStatusCode: report.code },
    target: applyEffect(situation, effectOf(rule.effect, action.multiAssignment)),
    moved: from === to ? null : { from, to },
  };
}

function verdictOf(channel: Channel, action: ActionState): Outcome | "ignore" | "proceed" {
  const gate = gates[channel].find(
    (g) => (g.status?.some((name) => actionStatus[name] === action.status) ?? true) && (g.active ?? action.active) === action.active,
  );
  return gate?.verdict ?? "proceed";
}

function nextStatus(rule: Rule, now: ActionStatus): ActionStatus {
  if (rule.next === "keep") return now;
  if (rule.next === "runUnlessCanceling") return now === actionStatus.CANCELING ? now : actionStatus.RUNNING;
  return actionStatus[rule.next];
}

function applyEffect(situation: Situation, effect: TargetEffect): TargetState {
  const { action, target, others } = situation;
  const open = others.filter((o) => o.active).sort((a, b) => a.id - b.id);
  const assigned: Record<TargetEffect["assigned"], number | null> = {
    keep: target.assignedSetId,
    none: null,
    noneIfOwnSet: target.assignedSetId === action.setId ? null : target.assignedSetId,
    ownSetIfDownloadOnly: action.forceType === forceType.downloadonly ? action.setId : target.assignedSetId,
    nextOpenOrInstalled: open[0]?.setId ?? target.installedSetId,
    nextOpenOrOwnSet: open[0]?.setId ?? action.setId,
    nextOpenOrKeep: open[0]?.setId ?? target.assignedSetId,
  };
  const assignedSetId = assigned[effect.assigned];
  const installedSetId = effect.installed === "ownSet" ? action.setId : target.installedSetId;
  const status: Record<TargetEffect["updateStatus"], UpdateStatus> = {
    keep: target.updateStatus,
    error: updateStatus.error,
    errorIfNothingElse: assignedSetId === null ? updateStatus.error : target.updateStatus,
    inSync: updateStatus.in_sync,
    inSyncIfAssignedIsInstalled: assignedSetId === installedSetId ? updateStatus.in_sync : target.updateStatus,
    inSyncIfNothingOpen: open.length === 0 ? updateStatus.in_sync : target.updateStatus,
    pendingWhileOpen: open.length === 0 ? updateStatus.in_sync : updateStatus.pending,
  };
  return {
    assignedSetId,
    installedSetId,
    installedActionId: effect.installed === "ownSet" ? newestFinished(situation) : target.installedActionId,
    updateStatus: status[effect.updateStatus],
    requestAttributes: effect.requestAttributes === "ask" || target.requestAttributes,
  };
}

/** A late report of an older action must not hide a newer one that installed the same set (contract device.md §3.3: the newest by id). */
function newestFinished({ action, others }: Situation): number {
  const same = others.filter((o) => o.setId === action.setId && o.status === actionStatus.FINISHED);
  return Math.max(action.id, ...same.map((o) => o.id));
}
