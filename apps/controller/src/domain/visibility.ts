import { type ActionStatusName, actionStatusNames } from "@harrier/contracts";

/** The resources of an action that a device can read. The place in the list is the code that SQL knows. */
export const resources = ["deployment", "cancel", "installed", "confirmation"] as const;
export type Resource = (typeof resources)[number];

interface Visibility {
  /** Statuses of an active action that show the resource. */
  readonly open: readonly ActionStatusName[];
  /** Statuses of a closed one. */
  readonly closed: readonly ActionStatusName[];
}

const ended = ["FINISHED", "ERROR", "DOWNLOADED"] as const;

/** When each resource exists; otherwise 404 without a body (contract device.md §4.2). */
export const visibility: Record<Resource, Visibility> = {
  deployment: { open: actionStatusNames.filter((s) => s !== "CANCELING" && s !== "WAIT_FOR_CONFIRMATION"), closed: ended },
  cancel: { open: ["CANCELING"], closed: ["CANCELED"] },
  installed: { open: [], closed: ended },
  confirmation: { open: ["WAIT_FOR_CONFIRMATION"], closed: [] },
};

/** What the history says of a first retrieval; reading an installed or a waiting action leaves no trace (contract device.md §4.2). */
export const retrievedTexts: Partial<Record<Resource, string>> = {
  deployment: "Target retrieved update action and should start now the download.",
  cancel: "Target retrieved cancel action and should start now the cancellation.",
};
