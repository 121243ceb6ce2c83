import { every, type Job, type NodeStatus, nodeStatusJob } from "@harrier/jobs";
import type { Refusals } from "./incoming/refusals.ts";
import type { Tenants } from "./tenants.ts";

interface Deps {
  readonly tenants: Tenants;
  readonly send: () => Promise<boolean>;
  readonly refusals: Refusals;
  readonly nodeStatus: NodeStatus;
}

/** Services start in any order: controller may not answer yet, or not read what management is still to make. */
const graceMs = 10_000;

export type JobName = keyof typeof jobs;

/** All background jobs of dmf. Messages that come in are no job: the broker brings them. */
export const jobs = {
  "node-status": nodeStatusJob,
  tenants: every<Pick<Deps, "tenants">>({
    does: "Connects to the virtual hosts of the tenants that have enabled DMF.",
    runs: "every replica",
    everyMs: 2_000,
    work: ({ tenants }) => tenants.refresh(),
    failure: "controller cannot be asked for tenants",
    graceMs,
  }),
  messages: every<Pick<Deps, "send">>({
    does: "Sends messages to things, from the outbox of controller and in its order.",
    runs: "lease",
    everyMs: 250,
    restMs: 1_000,
    work: ({ send }) => send(),
    failure: "messages to things could not be sent; they are sent again",
    graceMs,
  }),
  refusals: every<Pick<Deps, "refusals">>({
    does: "Tells controller how many messages of things were refused, and why.",
    runs: "every replica",
    everyMs: 1_000,
    work: ({ refusals }) => refusals.tell(),
    failure: "refused messages could not be counted; they are counted later",
  }),
} satisfies Record<string, Job<Deps>>;
