import type { Topic } from "@harrier/contracts";

/** The retention per topic in milliseconds. Events of targets, sets and modules are also compacted, so that the newest state of each stays. */
export const topicSettings: Record<Topic, { retentionMs: number; cleanup: string }> = {
  "action-events": { retentionMs: 7 * 86_400_000, cleanup: "delete" },
  "rollout-events": { retentionMs: 30 * 86_400_000, cleanup: "delete" },
  "target-events": { retentionMs: 30 * 86_400_000, cleanup: "compact,delete" },
  "webhook-events": { retentionMs: 30 * 86_400_000, cleanup: "delete" },
  "catalogue-events": { retentionMs: 30 * 86_400_000, cleanup: "compact,delete" },
};
