import { type ActionStatusName, actionStatusNames } from "@harrier/contracts";

/** Lists the resources of an action that a device can read. SQL uses the place in the list as the code. */
export const resources = ["deployment", "cancel", "installed", "confirmation"] as const;
export type Resource = (typeof resources)[number];

interface Visibility {
  /** The statuses of an active action that show the resource. */
  readonly open: readonly ActionStatusName[];
  /** The statuses of a closed one. */
  readonly closed: readonly ActionStatusName[];
}

const ended = ["FINISHED", "ERROR", "DOWNLOADED"] as const;

/** Says when each resource exists; otherwise it is 404 without a body (contract device.md §4.2). */
export const visibility: Record<Resource, Visibility> = {
  deployment: { open: actionStatusNames.filter((s) => s !== "CANCELING" && s !== "WAIT_FOR_CONFIRMATION"), closed: ended },
  cancel: { open: ["CANCELING"], closed: ["CANCELED"] },
  installed: { open: [], closed: ended },
  confirmation: { open: ["WAIT_FOR_CONFIRMATION"], closed: [] },
};

/** The history's message about a first retrieval; reading an installed or a waiting action adds none (contract device.md §4.2). */
export const retrievedTexts: Partial<Record<Resource, string>> = {
  deployment: "Target retrieved update action and should start now the download.",
  cancel: "Target retrieved cancel action and should start now the cancellation.",
};
