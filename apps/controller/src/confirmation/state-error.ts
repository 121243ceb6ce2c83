import { HarrierError } from "@harrier/errors";
import type { ConfirmationOutcome } from "../domain/confirmation.ts";
import { tooManyEntries, tooManyMessages } from "../domain/quota-exceeded.ts";
import type { MessageCount } from "../domain/quotas.ts";

/** Makes the error of an existing action that takes no answer now, from a device or a user (contract device.md §7.5). */
export function stateError(
  outcome: Extract<ConfirmationOutcome, "notWaiting" | "closed" | "tooManyEntries" | "tooManyMessages">,
  actionId: number,
  sent: MessageCount,
): HarrierError {
  switch (outcome) {
    case "notWaiting":
      return new HarrierError("stateNotFound");
    case "closed":
      return new HarrierError("actionClosed");
    case "tooManyEntries":
      return tooManyEntries(actionId, sent.limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT);
    case "tooManyMessages":
      return tooManyMessages(sent.messages, sent.limits.MESSAGES_PER_STATUS_MAX_COUNT);
  }
}
