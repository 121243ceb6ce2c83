import { batched, every, type Job, type NodeStatus, nodeStatusJob } from "@harrier/jobs";
import type { KeyUses } from "./authentication/key-uses.ts";
import type { SessionUses } from "./authentication/session/session-uses.ts";
import type { DeniedRequests } from "./denied-requests/denied-requests.ts";
import type { Upstreams } from "./routing/upstreams.ts";

interface Deps {
  readonly uses: KeyUses;
  readonly sessionUses: SessionUses;
  readonly deniedRequests: DeniedRequests;
  readonly upstreams: Pick<Upstreams, "check">;
  /** Whether anybody asks this gateway anything. */
  readonly attention: { readonly rests: boolean };
  readonly tokens: { askForKeys(): Promise<unknown> };
  readonly nodeStatus: NodeStatus;
  /** It is undefined if TLS does not end here. */
  readonly certificates: { readonly follow?: (() => void) | undefined };
}

export type JobName = keyof typeof jobs;

/** All background jobs of the gateway. They end after the last request, whose uses and denials are sent then. */
export const jobs = {
  "node-status": nodeStatusJob,
  "upstream-readiness": every<Pick<Deps, "upstreams" | "attention">>({
    does: "Asks the replicas of all services for their readiness and clock, those that have long been ready every one and a half seconds; woken by the first request after a rest.",
    runs: "every replica",
    everyMs: 500,
    // while nobody asks anything and all have long been ready
    restMs: 10_000,
    steady: true,
    work: ({ upstreams, attention }) => (upstreams.check() && attention.rests ? false : undefined),
    failure: "replicas could not be asked for their readiness",
  }),
  "key-uses": batched<Pick<Deps, "uses">>({
    does: "Tells management on which days API keys are used.",
    runs: "every replica",
    soonMs: 500,
    everyMs: 60_000,
    buffer: ({ uses }) => uses,
    failure: "management could not be told which API keys are in use; it will be",
  }),
  "session-uses": batched<Pick<Deps, "sessionUses">>({
    does: "Tells management when sessions of users were last used.",
    runs: "every replica",
    soonMs: 500,
    everyMs: 60_000,
    buffer: ({ sessionUses }) => sessionUses,
    failure: "management could not be told which sessions are in use; it will be",
  }),
  "denied-requests": batched<Pick<Deps, "deniedRequests">>({
    does: "Tells management what was denied, for the audit trail, and how often.",
    runs: "every replica",
    soonMs: 500,
    everyMs: 5_000,
    buffer: ({ deniedRequests }) => deniedRequests,
    failure: "management could not be told what was refused; it will be",
  }),
  "issuer-keys": every<Pick<Deps, "tokens">>({
    // It runs even without sign-ins, so that the first user with a withdrawn key is denied.
    does: "Asks the trusted issuers for their keys.",
    runs: "every replica",
    everyMs: 5 * 60_000,
    steady: true,
    stopLimitMs: 0,
    work: ({ tokens }) => tokens.askForKeys(),
    failure: "issuers could not be asked for their keys",
  }),
  certificates: every<Pick<Deps, "certificates">>({
    does: "Takes changed certificates of the HTTPS port without a restart.",
    runs: "every replica",
    everyMs: 5_000,
    later: true,
    steady: true,
    work: ({ certificates }) => certificates.follow?.(),
    failure: "changed certificates could not be looked for",
  }),
} satisfies Record<string, Job<Deps>>;
