import type { ServerResponse } from "node:http";
import { type KnownMembers, maxNamed, unknownMembers } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";

/** How a body with unknown members is handled: a warning beside the answer, 400, or nothing. */
export type UnknownMembers = "warn" | "refuse" | "ignore";

/** Tells the sender about members that are ignored, because it may have meant something by them. */
export function tellUnknown(res: ServerResponse, policy: UnknownMembers, known: KnownMembers, body: unknown): void {
  const names = unknownMembers(known, body);
  if (names.length === 0) return;
  if (policy === "refuse") throw new HarrierError("constraintViolation", `Unknown members: ${listed(names)}.`);
  // code, agent and quoted text are those of RFC 7234 §5.5: 299 is any warning that stays with the answer
  res.setHeader("warning", `299 - "Unknown members were ignored: ${listed(names)}"`);
}

/** Lists the first names in a form for a header's quoted text: printable, without quotes and backslashes. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).map((name) => name.replace(/[^ !#-[\]-~]/gu, "?"));
  return shown.join(", ") + (names.length > maxNamed ? " and others" : "");
}
