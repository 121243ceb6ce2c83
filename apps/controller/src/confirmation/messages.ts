import { serverMessagePrefix } from "../domain/codes.ts";
import { type Answer, textOf } from "../domain/confirmation.ts";
import { split } from "../feedback/messages.ts";

export interface Answered {
  answer: Answer;
  code: number | null;
  details: readonly string[];
}

/** Builds the messages of an answer's history entry (contract device.md §7.5): its details, the server's message, its code. */
export function confirmationMessages({ answer, code, details }: Answered): string[] {
  return [...details.flatMap(split), serverMessagePrefix + textOf(answer), ...(code === null ? [] : [`Confirmation status code: ${code}`])];
}
