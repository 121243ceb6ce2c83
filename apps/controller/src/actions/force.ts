import { type ForceTypeName, forceTypeNames } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";

/** Reads a force type as gRPC carries it; absent means forced (contract management.md §4.1.1). */
export function forceTypeOf(text: string): ForceTypeName {
  if (text === "") return "forced";
  const name = forceTypeNames.find((n) => n === text);
  if (name === undefined) throw new HarrierError("bodyNotReadable", `unknown force type ${text}`);
  return name;
}

/** Reads the time at which an action becomes forced; only timeforced ones have one. */
export function forceTimeOf(type: string, epochMs: number): Date | null {
  return type === "timeforced" ? new Date(epochMs) : null;
}
