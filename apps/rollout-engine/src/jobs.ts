import { type Audit, auditJobs } from "@harrier/audit";
import type { Database } from "@harrier/db";
import { type Relay, relayJob } from "@harrier/events";
import { every, type Job, leased, type NodeStatus, nodeStatusJob } from "@harrier/jobs";
import { createAutoAssigner } from "./auto-assign/auto-assigner.ts";
import type { RunDeps } from "./auto-assign/run-filter.ts";
import { type DueWorkDeps, wakeForDueWork } from "./due-work/due-work.ts";
import type { FillDeps } from "./dynamic/fill.ts";
import { createFiller } from "./dynamic/filler.ts";
import { createEngine } from "./engine/engine.ts";
import type { PerformDeps } from "./engine/perform.ts";
import { makePartitions } from "./maintenance/maintenance.ts";

interface Deps {
  readonly audit: Audit;
  /** Background work uses connections of its own. */
  readonly background: Database;
  /** Events are kept for so many days. */
  readonly eventDays: number;
  readonly relay: Relay;
  readonly nodeStatus: NodeStatus;
  readonly rollouts: PerformDeps;
  readonly autoAssignments: RunDeps;
  readonly dynamicRollouts: FillDeps;
  readonly dueWork: DueWorkDeps;
}

export type JobName = keyof typeof jobs;

/** The workers are woken for what is due; these polls of their own are for what a wake-up could have missed. */
const pollMs = 15_000;

/** All background jobs of rollout-engine. Those of the group `rollouts` start when the views of other services can be read. */
export const jobs = {
  "node-status": nodeStatusJob,
  "due-work": every<Pick<Deps, "dueWork">>({
    does: "Looks for what devices have reported and what has become due, every 100 ms while a rollout runs, and wakes the workers; woken by each command.",
    runs: "every replica",
    group: "rollouts",
    everyMs: 500,
    restMs: 5_000,
    work: ({ dueWork }) => wakeForDueWork(dueWork),
    failure: "due work cannot be looked for, trying again",
  }),
  rollouts: leased<Pick<Deps, "rollouts">>({
    does: "Drives rollouts: freezes, schedules, starts, advances, pauses and stops them; woken by each command and by due work.",
    group: "rollouts",
    pollMs,
    leaseSeconds: 4,
    slots: 4,
    worker: ({ rollouts }, options) => createEngine(rollouts, options),
  }),
  "auto-assignments": leased<Pick<Deps, "autoAssignments">>({
    does: "Assigns the sets of filters to the targets that match by now; woken by a change of a filter and by due work.",
    group: "rollouts",
    pollMs,
    // it is longer than one part of the work takes
    leaseSeconds: 20,
    slots: 3,
    worker: ({ autoAssignments }, options) => createAutoAssigner(autoAssignments, options),
  }),
  "dynamic-rollouts": leased<Pick<Deps, "dynamicRollouts">>({
    does: "Lets targets join the last groups of dynamic rollouts; woken by due work.",
    group: "rollouts",
    pollMs,
    // it is longer than one search in a large fleet takes
    leaseSeconds: 20,
    slots: 3,
    worker: ({ dynamicRollouts }, options) => createFiller(dynamicRollouts, options),
  }),
  "outbox-relay": relayJob,
  partitions: every<Pick<Deps, "background" | "eventDays">>({
    does: "Makes the partitions of the next days and drops those that are over and sent.",
    runs: "every replica",
    everyMs: 60 * 60_000,
    later: true,
    steady: true,
    stopLimitMs: 0,
    work: ({ background, eventDays }) => makePartitions(background, eventDays),
    failure: "partitions could not be maintained",
    everyFailure: true,
  }),
  ...auditJobs,
} satisfies Record<string, Job<Deps>>;
