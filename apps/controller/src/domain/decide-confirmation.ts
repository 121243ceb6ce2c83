import { type ActionStatus, actionStatus } from "@harrier/contracts";
import { type Answer, type ConfirmationOutcome, confirmationRules } from "./confirmation.ts";
import type { ActionState, ReportLimits } from "./decide-report.ts";

export interface ConfirmationAnswer {
  answer: Answer;
  code: number | null;
  /** The number of messages of the entry, with the server's own. */
  messageCount: number;
}

export type ConfirmationDecision =
  | { outcome: Exclude<ConfirmationOutcome, "ok"> }
  | { outcome: "ok"; action: ActionState; entry: ActionStatus; text: string };

/**
 * Decides about confirmations and denials (contract device.md §7.5) as one pure function. The SQL function `confirm_action` gives the same answers.
 */
export function decideConfirmation(
  action: ActionState,
  sent: ConfirmationAnswer,
  { flow, limits }: { flow: boolean; limits: ReportLimits },
): ConfirmationDecision {
  if (!action.active) return { outcome: "closed" };
  const rule = confirmationRules.find(
    (r) => r.answer === sent.answer && r.statuses.some((name) => actionStatus[name] === action.status) && (r.flow === undefined || flow),
  );
  if (rule === undefined) return { outcome: "notWaiting" };
  if (limits.messages > 0 && sent.messageCount > limits.messages) return { outcome: "tooManyMessages" };
  if (limits.entries > 0 && action.revision >= limits.entries) return { outcome: "tooManyEntries" };
  return {
    outcome: "ok",
    entry: actionStatus[rule.entry],
    text: rule.text,
    action: { ...action, status: actionStatus[rule.next], revision: action.revision + 1, lastStatusCode: sent.code },
  };
}

/**
 * Returns the action after its target's auto-confirmation was activated (contract device.md §5.5), as the SQL function `activate_auto_confirm` does.
 */
export function confirmedByItself(action: ActionState): ActionState {
  if (!action.active || action.status !== actionStatus.WAIT_FOR_CONFIRMATION) return action;
  return { ...action, status: actionStatus.RUNNING, revision: action.revision + 1 };
}
