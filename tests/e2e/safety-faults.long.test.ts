import { describe, expect, test } from "vitest";
import { violatedAnywhere } from "./support/chaos-invariants.ts";
import { useResilientStack } from "./support/resilient-suite.ts";
import { sceneDevices as all, giveUpSeconds, playScene, type Scene, showVersions } from "./support/safety-scene.ts";

// kill -9 between a claim and its proof, in settling and in retrying (contract beyond.md, cases 1.19, 2.16, 3.17): whatever dies, each action is settled
// once, no event is missing, and nothing is tried twice. There are two replicas of each service, and the fault is armed on each.

const suite = useResilientStack(showVersions);

const proof: Scene = { lies: { fallBack: 0.4 } };
const retry: Scene = { lies: { flaky: 1 } };
const silence: Scene = { lies: { silent: 1 }, seconds: [61, giveUpSeconds] };
const giveUp: Scene = { lies: { silent: 1 }, seconds: [giveUpSeconds + 1] };
const byHand: Scene = { lies: { fail: 1 }, byHand: true };
const decided: Scene = { lies: { fallBack: 1 }, decided: true };
const everything: Scene = { lies: { fallBack: 0.3, flaky: 0.4, silent: 0.3 }, seconds: [61, giveUpSeconds] };

const points: readonly (readonly [title: string, fault: string, scene: Scene])[] = [
  ["beyond 1.19 a claim that is committed and not answered", "controller.report.after-commit:10", proof],
  ["beyond 1.19 the first claim, committed and not answered", "controller.report.after-commit:1", proof],
  ["beyond 1.19 before what a device shows is answered", "controller.http.before-answer:30", proof],
  ["beyond 1.19 after what a device shows was answered", "controller.http.after-answer:30", proof],
  ["beyond 1.19 before proofs are settled", "controller.settle.before-commit:1", proof],
  ["beyond 1.19 after proofs were settled", "controller.settle.after-commit:1", proof],
  ["beyond 2.16 before silent ones are settled", "controller.settle.before-commit:1", silence],
  ["beyond 2.16 after silent ones were settled", "controller.settle.after-commit:1", silence],
  ["beyond 2.16 before those that are given up are settled", "controller.settle.before-commit:1", giveUp],
  ["beyond 2.16 after those that are given up were settled", "controller.settle.after-commit:1", giveUp],
  ["beyond 3.17 before attempts begin", "controller.settle.before-commit:1", retry],
  ["beyond 3.17 after attempts have begun", "controller.settle.after-commit:1", retry],
  ["beyond 3.17 an attempt by hand that is committed and not answered", "controller.retry.after-commit:3", byHand],
  ["beyond 3.17 before an attempt by hand is answered", "management.http.before-answer:10", byHand],
  ["beyond 1.19 a decision by a person that is committed and not answered", "controller.prove.after-commit:3", decided],
  ["beyond 1.19 before decisions by persons are answered within", "controller.rpc.before-answer:20", decided],
  ["beyond 1.19 before decisions by persons are answered", "management.http.before-answer:10", decided],
  ["beyond 1.19 after decisions by persons were answered", "management.http.after-answer:11", decided],
  ["beyond 1.19 before policies of a chunk are committed", "controller.schedule-chunk.before-commit:1", proof],
  ["beyond 1.19 policies of a chunk that are committed and not answered", "controller.schedule-chunk.after-commit:1", proof],
  ["beyond 1.19 before watches of a chunk begin", "controller.start-chunk.before-commit:1", everything],
  ["beyond 1.19 watches of a chunk that have begun", "controller.start-chunk.after-commit:1", everything],
  ["beyond 1.19 a change of the rollout that is committed", "rollout-engine.advance.after-commit:1", everything],
  ["beyond 1.19 answers that are lost at the gateway", "gateway.proxy.after-answer:40", everything],
  ["beyond 1.19 events that are sent and not marked", "controller.relay.after-send:1", everything],
];

describe("kill -9 with a safety policy, on every replica", () => {
  test.each(points)("%s: %s", { timeout: 300_000 }, (_, fault, scene) =>
    suite.killedAt(fault, async ({ stack, eventFaults }) => {
      const { actions, rolloutId, ends, updated, inSync } = await playScene(stack, scene);
      expect(await violatedAnywhere(stack)).toEqual([]);
      expect(await eventFaults(actions, rolloutId)).toEqual([]);
      // The server believes exactly those that run the new version, or whom a person believes.
      expect(inSync).toBe(scene === decided ? all / 2 : updated);
      expect(Object.values(ends).reduce((sum, n) => sum + n, 0)).toBe(all);
      if (scene === retry || scene === byHand) expect([ends, updated]).toEqual([{ "finished 2": all }, all]);
      else if (scene === decided) expect(ends).toEqual({ "finished 1": all / 2, "error 1": all / 2 });
      else if (scene === proof) expect(ends).toEqual({ "finished 1": updated, "error 1": all - updated });
      else if (scene !== everything) expect(ends).toEqual({ "error 1": all });
    }),
  );
});
