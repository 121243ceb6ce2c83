import type { ServerResponse } from "node:http";
import { type KnownMembers, mostNamed, unknownMembers } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";

/** What becomes of a body with members that the contract does not know: a warning beside the answer, 400, or nothing. */
export type UnknownMembers = "warn" | "refuse" | "ignore";

/** Tells the sender of members that nobody reads, since it may have meant something by them. */
export function tellUnknown(res: ServerResponse, policy: UnknownMembers, known: KnownMembers, body: unknown): void {
  const names = unknownMembers(known, body);
  if (names.length === 0) return;
  if (policy === "refuse") throw new HarrierError("constraintViolation", `Unknown members: ${listed(names)}.`);
  // code, agent and quoted text of RFC 7234 §5.5: 299 is any warning that stays with the answer
  res.setHeader("warning", `299 - "Unknown members were ignored: ${listed(names)}"`);
}

/** The first names, as they can stand in the quoted text of a header: printable, no quote and no backslash among them. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).map((name) => name.replace(/[^ !#-[\]-~]/gu, "?"));
  return shown.join(", ") + (names.length > mostNamed ? " and others" : "");
}
