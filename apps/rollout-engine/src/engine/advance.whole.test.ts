import { expect, test } from "vitest";
import type { BucketCounts, GroupFacts, RolloutStatus } from "../domain/facts.ts";
import { counts, group, rollout } from "../testing/facts.ts";
import { advance, groupsToBeginOnResume } from "./advance.ts";

const now = 1_000_000;

test("a rollout of any groups whose devices all answer ends, whatever the thresholds", () => {
  // a tiny simulation: carries out every command on plain data, and lets one device answer whenever there is nothing to do
  for (let seed = 1; seed <= 300; seed++) {
    const random = mulberry(seed);
    const groups = Array.from({ length: 1 + Math.floor(random() * 5) }, (_, index) =>
      group(index + 1, "ready", {
        started: false,
        totalTargets: Math.floor(random() * 4),
        successExpression: String(Math.floor(random() * 101)),
        errorExpression: String(Math.floor(random() * 101)),
        successAction: random() < 0.3 ? "PAUSE" : "NEXTGROUP",
      }),
    );
    expect(simulate(groups, random)).toBe("finished");
  }
});

function simulate(groups: GroupFacts[], random: () => number): RolloutStatus {
  const facts = rollout("starting");
  const done = new Map<number, Record<keyof BucketCounts, number>>(groups.map((g) => [g.id, { ...counts({}) }]));
  const of = (id: number) => groups.find((g) => g.id === id) as GroupFacts;
  for (let step = 0; step < 1_000 && facts.status !== "finished"; step++) {
    for (const command of advance(facts, groups, done, now)) {
      if (command.do === "change") {
        for (const change of command.groups) {
          if (change.to) of(change.id).status = change.to;
          if (change.requestStart) of(change.id).startRequested = true;
        }
        if (command.rollout) facts.status = command.rollout.to;
      }
      if (command.do === "recount") for (const { groupId, total } of command.totals) of(groupId).totalTargets = total;
      if (command.do === "schedule") {
        const next = of(command.groups[0] as number);
        next.status = "scheduled";
        Object.assign(done.get(next.id) ?? {}, { scheduled: next.totalTargets });
      }
      if (command.do === "start")
        for (const id of command.groups) {
          const bucket = done.get(id) as Record<keyof BucketCounts, number>;
          Object.assign(bucket, { running: bucket.running + bucket.scheduled, scheduled: 0 });
          of(id).started = true;
        }
      if (command.do === "wait") {
        if (facts.status === "paused") {
          for (const change of groupsToBeginOnResume(groups, done)) {
            if (change.to) of(change.id).status = change.to;
            if (change.requestStart) of(change.id).startRequested = true;
          }
          facts.status = "running";
        } else {
          const busy = [...done.values()].find((bucket) => bucket.running > 0);
          if (!busy) return facts.status;
          busy.running--;
          busy[random() < 0.4 ? "error" : random() < 0.9 ? "finished" : "cancelled"]++;
        }
      }
    }
  }
  return facts.status;
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
