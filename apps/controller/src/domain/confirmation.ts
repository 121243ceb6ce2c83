import type { ActionStatusName } from "@harrier/contracts";

/**
 * These tables say what follows from an answer to an action that waits for its confirmation (contract device.md §7.5, D15). They are read by
 * `decideConfirmation` (decide-confirmation.ts) and by the generator of the SQL function (confirmation-function.sql.ts).
 */

export type Answer = "confirmed" | "denied";

/** The outcome of an answer; the texts are those that SQL returns. */
export type ConfirmationOutcome =
  | "ok"
  | "targetNotFound"
  | "actionNotFound"
  | "foreignAction"
  | "closed"
  | "notWaiting"
  | "tooManyEntries"
  | "tooManyMessages";

export interface ConfirmationRule {
  readonly statuses: readonly ActionStatusName[];
  readonly answer: Answer;
  /** The rule applies only while the tenant's confirmation flow is on. */
  readonly flow?: true;
  /** The status of the history entry and of the action. */
  readonly entry: ActionStatusName;
  readonly next: ActionStatusName;
  /** The server's message. The first rule of an answer is the one that callers expect when they write the messages. */
  readonly text: string;
}

/** These rules are for open actions; the first match decides, and without one there is nothing to confirm. Closed actions take no answer. */
export const confirmationRules: readonly ConfirmationRule[] = [
  {
    statuses: ["WAIT_FOR_CONFIRMATION"],
    answer: "confirmed",
    entry: "RUNNING",
    next: "RUNNING",
    text: "Target confirmed action. Therefore, it will be set to the running state to proceed with the deployment.",
  },
  {
    statuses: ["WAIT_FOR_CONFIRMATION"], // the denial is not final: the action is offered again
    answer: "denied",
    entry: "WAIT_FOR_CONFIRMATION",
    next: "WAIT_FOR_CONFIRMATION",
    text: "Target rejected action. Action will stay in confirmation pending state.",
  },
  {
    statuses: ["RUNNING", "RETRIEVED"],
    answer: "denied",
    flow: true,
    entry: "WAIT_FOR_CONFIRMATION",
    next: "WAIT_FOR_CONFIRMATION",
    text: "Target revoked previously granted confirmation. Action returned to confirmation-pending state.",
  },
];

/** Returns the server's message about an answer to a waiting action. */
export function textOf(answer: Answer): string {
  return (confirmationRules.find((rule) => rule.answer === answer) as ConfirmationRule).text;
}
