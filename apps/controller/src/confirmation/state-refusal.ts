import { HarrierError } from "@harrier/errors";
import type { ConfirmationOutcome } from "../domain/confirmation.ts";
import { tooManyEntries, tooManyMessages } from "../domain/quota-exceeded.ts";
import type { Said } from "../domain/quotas.ts";

/** Why an action that is there takes no answer now, whoever gives it (contract device.md §7.5). */
export function stateRefusal(
  outcome: Extract<ConfirmationOutcome, "notWaiting" | "closed" | "tooManyEntries" | "tooManyMessages">,
  actionId: number,
  said: Said,
): HarrierError {
  switch (outcome) {
    case "notWaiting":
      return new HarrierError("stateNotFound");
    case "closed":
      return new HarrierError("actionClosed");
    case "tooManyEntries":
      return tooManyEntries(actionId, said.limits.STATUS_ENTRIES_PER_ACTION_MAX_COUNT);
    case "tooManyMessages":
      return tooManyMessages(said.messages, said.limits.MESSAGES_PER_STATUS_MAX_COUNT);
  }
}
