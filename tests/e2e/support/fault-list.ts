import { type FaultPoint, faultPoints } from "@harrier/service";

/** Which passes of a point are tried; the first where nothing is said. */
const passes: Partial<Record<FaultPoint, readonly number[]>> = {
  "gateway.proxy.before-forward": [1, 40],
  "gateway.proxy.after-answer": [1, 40],
  "controller.http.before-answer": [1, 30],
  "controller.http.after-answer": [1, 30],
  "controller.rpc.before-answer": [1, 12],
  "controller.report.after-commit": [1, 25],
  "management.http.before-answer": [1, 4],
  "management.rpc.before-answer": [1, 3],
  "rollout-engine.http.before-answer": [1, 3],
  // not in the main job: invalidation.test.ts
  "management.invalidate-set.after-commit": [],
  "controller.stop-chunk.after-commit": [],
  "controller.cancel-set-chunk.after-commit": [],
  // not in the main job: target-deletion.long.test.ts
  "management.delete-targets.after-commit": [],
  "controller.delete-targets.after-commit": [],
  // of the background
  "controller.clean-actions.after-commit": [],
  // not in the main job: auto-assign.long.test.ts
  "controller.auto-assign-chunk.after-commit": [],
  "rollout-engine.auto-assign.after-candidates": [],
  "rollout-engine.auto-assign.after-chunk": [],
};

/** Every fault point of every service in the main job, as HARRIER_FAULT takes it. */
export const allFaults: readonly string[] = faultPoints.flatMap((point) => (passes[point] ?? [1]).map((nth) => `${point}:${nth}`));

/** What must never break between two long runs. */
export const dearestFaults: readonly string[] = [
  "controller.report.after-commit:10",
  "controller.schedule-chunk.after-commit:1",
  "controller.relay.after-send:1",
  "rollout-engine.freeze.after-commit:1",
  "rollout-engine.start.after-commit:1",
  "artifact-store.upload.after-commit:1",
];
