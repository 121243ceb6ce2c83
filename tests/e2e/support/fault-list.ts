import { type FaultPoint, faultPoints } from "@harrier/service";

/** Says which passes of a point are tried; without an entry it is the first. */
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
  // This point is not in the main job: invalidation.test.ts tests it.
  "management.invalidate-set.after-commit": [],
  "controller.stop-chunk.after-commit": [],
  "controller.cancel-set-chunk.after-commit": [],
  // This point is not in the main job: target-deletion.long.test.ts tests it.
  "management.delete-targets.after-commit": [],
  "controller.delete-targets.after-commit": [],
  // These points need a safety policy: safety-faults.long.test.ts tests them.
  "controller.prove.after-commit": [],
  "controller.settle.before-commit": [],
  "controller.settle.after-commit": [],
  // These points need a message broker: dmf-fleet.long.test.ts tests them, and dmf.real.test.ts the dearest.
  "dmf.message.before-handled": [],
  "dmf.message.after-handled": [],
  "dmf.message.after-ack": [],
  "dmf.publish.before-publish": [],
  "dmf.publish.before-confirm": [],
  "dmf.publish.after-confirm": [],
  // These points need a message broker: event-stream.real.test.ts tests them.
  "management.sie.before-confirm": [],
  "management.sie.after-confirm": [],
  // This point is not in the main job either; the same worker carries out deletions.
  "management.change-targets.after-commit": [],
  // These points are not in the main job: uploads-in-parts.real.test.ts tests them.
  "artifact-store.part.after-store": [],
  "artifact-store.part.after-commit": [],
  "artifact-store.complete.after-join": [],
  "artifact-store.complete.after-commit": [],
  // This point belongs to background work.
  "controller.clean-actions.after-commit": [],
  // This point is not in the main job: auto-assign.long.test.ts tests it.
  "controller.auto-assign-chunk.after-commit": [],
  "rollout-engine.auto-assign.after-candidates": [],
  "rollout-engine.auto-assign.after-chunk": [],
};

/** Lists every fault point of every service in the main job, in the form of HARRIER_FAULT. */
export const allFaults: readonly string[] = faultPoints.flatMap((point) => (passes[point] ?? [1]).map((nth) => `${point}:${nth}`));

/** These are the most important points, which are tested between two long runs too. */
export const dearestFaults: readonly string[] = [
  "controller.report.after-commit:10",
  "controller.schedule-chunk.after-commit:1",
  "controller.relay.after-send:1",
  "rollout-engine.freeze.after-commit:1",
  "rollout-engine.start.after-commit:1",
  "artifact-store.upload.after-commit:1",
];
