import { z } from "zod";
import { isStorable } from "../values.ts";
import { absentWhenNull, details, looseText, statusCode } from "./feedback.ts";

export const confirmationAnswers = ["confirmed", "denied"] as const;
export type ConfirmationAnswer = (typeof confirmationAnswers)[number];

/** A device's answer to an action that waits for it (contract device.md §5.3). */
export const confirmationBody = z
  .object({ confirmation: z.enum(confirmationAnswers), code: statusCode, details })
  .meta({ id: "ConfirmationFeedback" });
export type ConfirmationFeedback = z.output<typeof confirmationBody>;

/** A free text of limited length; one that cannot be stored is no such text. */
function note(longest: number) {
  return absentWhenNull(looseText.pipe(z.string().max(longest).refine(isStorable, "must not hold characters that cannot be stored")));
}

/** Who has automatic confirmation switched on, and why (contract device.md §5.5); an empty text is none. The whole body may be absent. */
export const autoConfirmBody = z
  .object({ initiator: note(64), remark: note(512) })
  .meta({ id: "DeviceAutoConfirmActivation" })
  .optional();
export type AutoConfirmBody = z.output<typeof autoConfirmBody>;
