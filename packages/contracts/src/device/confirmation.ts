import { z } from "zod";
import { isStorable } from "../values.ts";
import { absentWhenNull, details, looseText, statusCode } from "./feedback.ts";

export const confirmationAnswers = ["confirmed", "denied"] as const;
export type ConfirmationAnswer = (typeof confirmationAnswers)[number];

/** A device's answer to an action that waits for confirmation (contract device.md §5.3). */
export const confirmationBody = z
  .object({ confirmation: z.enum(confirmationAnswers), code: statusCode, details })
  .meta({ id: "ConfirmationFeedback" });
export type ConfirmationFeedback = z.output<typeof confirmationBody>;

/** Makes a free text of limited length; a text that cannot be stored is refused. */
function textUpTo(maxLength: number) {
  return absentWhenNull(looseText.pipe(z.string().max(maxLength).refine(isStorable, "must not hold characters that cannot be stored")));
}

/** Who has activated auto-confirmation, and why (contract device.md §5.5); an empty text counts as none. The whole body may be absent. */
export const autoConfirmBody = z
  .object({ initiator: textUpTo(64), remark: textUpTo(512) })
  .meta({ id: "DeviceAutoConfirmActivation" })
  .optional();
export type AutoConfirmBody = z.output<typeof autoConfirmBody>;
