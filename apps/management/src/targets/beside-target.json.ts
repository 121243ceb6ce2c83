import { type ActionStatus, actionStatusWord, type TargetView } from "@harrier/contracts";
import { optional } from "@harrier/query";
import type { FullTargetRow } from "./beside-target.sql.ts";

/** Shows what a full target has beside its own members (contract console.md §1, M03). */
export function besideTarget(row: FullTargetRow): Pick<TargetView, "assignedSet" | "installedSet" | "openAction" | "tags"> {
  return {
    ...optional("assignedSet", row.assignedSet),
    ...optional("installedSet", row.installedSet),
    ...optional("openAction", openAction(row)),
    tags: row.tags.map(({ id, name, colour }) => ({ id, name, ...optional("colour", colour) })),
  };
}

function openAction({ openAction: action }: FullTargetRow): TargetView["openAction"] {
  if (action === null) return undefined;
  const { id, status, since, rolloutId } = action;
  return { id, detailStatus: actionStatusWord(status as ActionStatus), since, ...optional("rolloutId", rolloutId) };
}
