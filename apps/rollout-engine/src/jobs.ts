import { type Audit, auditJobs } from "@harrier/audit";
import type { Database } from "@harrier/db";
import { type Relay, relayJob } from "@harrier/events";
import { every, type Job, leased } from "@harrier/jobs";
import { createAutoAssigner } from "./auto-assign/auto-assigner.ts";
import type { RunDeps } from "./auto-assign/run-filter.ts";
import type { FillDeps } from "./dynamic/fill.ts";
import { createFiller } from "./dynamic/filler.ts";
import { createEngine } from "./engine/engine.ts";
import type { PerformDeps } from "./engine/perform.ts";
import { makePartitions } from "./maintenance/maintenance.ts";

interface Deps {
  readonly audit: Audit;
  /** Background work uses connections of its own. */
  readonly background: Database;
  readonly relay: Relay;
  readonly rollouts: PerformDeps;
  readonly autoAssignments: RunDeps;
  readonly dynamicRollouts: FillDeps;
}

export type JobName = keyof typeof jobs;

/** All background jobs of rollout-engine. Those of the group `rollouts` start when the views of other services can be read. */
export const jobs = {
  rollouts: leased<Pick<Deps, "rollouts">>({
    does: "Drives rollouts: freezes, schedules, starts, advances, pauses and stops them; woken by each command.",
    group: "rollouts",
    pollMs: 500,
    leaseSeconds: 4,
    slots: 4,
    worker: ({ rollouts }, options) => createEngine(rollouts, options),
  }),
  "auto-assignments": leased<Pick<Deps, "autoAssignments">>({
    does: "Assigns the sets of filters to the targets that match by now; woken by a change of a filter.",
    group: "rollouts",
    pollMs: 500,
    // it is longer than one part of the work takes
    leaseSeconds: 20,
    slots: 3,
    worker: ({ autoAssignments }, options) => createAutoAssigner(autoAssignments, options),
  }),
  "dynamic-rollouts": leased<Pick<Deps, "dynamicRollouts">>({
    does: "Lets targets join the last groups of dynamic rollouts.",
    group: "rollouts",
    pollMs: 500,
    // it is longer than one search in a large fleet takes
    leaseSeconds: 20,
    slots: 3,
    worker: ({ dynamicRollouts }, options) => createFiller(dynamicRollouts, options),
  }),
  "outbox-relay": relayJob,
  partitions: every<Pick<Deps, "background">>({
    does: "Makes the partitions of the next days and drops those that are over and sent.",
    runs: "every replica",
    everyMs: 60 * 60_000,
    later: true,
    steady: true,
    stopLimitMs: 0,
    work: ({ background }) => makePartitions(background),
    failure: "partitions could not be maintained",
    everyFailure: true,
  }),
  ...auditJobs,
} satisfies Record<string, Job<Deps>>;
