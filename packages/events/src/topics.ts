import type { Topic } from "@harrier/contracts";

/** Retention per topic in milliseconds; target events also compact, so that the newest state of each target stays. */
export const topicSettings: Record<Topic, { retentionMs: number; cleanup: string }> = {
  "action-events": { retentionMs: 7 * 86_400_000, cleanup: "delete" },
  "rollout-events": { retentionMs: 30 * 86_400_000, cleanup: "delete" },
  "target-events": { retentionMs: 30 * 86_400_000, cleanup: "compact,delete" },
};
