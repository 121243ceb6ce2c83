import { every } from "@harrier/jobs";
import { anchorAll } from "./anchorer.ts";
import type { Audit } from "./audit.ts";
import { keepPartitions } from "./seal.sql.ts";
import { sealEnded } from "./sealer.ts";
import { vouchEveryMs } from "./trail.ts";

export interface AuditJobDeps {
  readonly audit: Audit;
}

/** All of them are in one group, which ends after the servers, so that the last calls can still be sealed. */
const group = "audit";
const fields = ({ audit: { schema } }: AuditJobDeps): object => ({ schema });

/** The background jobs of an audit trail, for the list of its service. */
export const auditJobs = {
  "audit-seal": every<AuditJobDeps>({
    does: "Seals ended entries of the audit trail as the next batch of the chain; woken by the end of a call.",
    runs: "every replica",
    group,
    everyMs: 1_000,
    // woken by each call of this process that ends; what is left is the entries of processes that have died
    restMs: 15_000,
    paced: true,
    later: true,
    work: ({ audit }, signal) => sealEnded({ ...audit, db: audit.background }, signal),
    failure: "audit: entries cannot be sealed; they will be",
    fields,
  }),
  "audit-anchor": every<AuditJobDeps>({
    does: "Signs and records the ends of the other services' chains.",
    runs: "every replica",
    group,
    everyMs: 10_000,
    work: ({ audit }) => anchorAll({ ...audit, db: audit.background.pool }),
    failure: "audit: the other services' trails cannot be anchored; they will be",
    fields,
  }),
  "audit-vouch": every<AuditJobDeps>({
    does: "Vouches for calls of this process that take long, so that their entries are not given up.",
    runs: "every replica",
    group,
    everyMs: vouchEveryMs,
    later: true,
    steady: true,
    stopLimitMs: 0,
    work: ({ audit }) => audit.trail.vouch(),
    failure: "audit: calls under way could not be vouched for",
    everyFailure: true,
  }),
  "audit-partitions": every<AuditJobDeps>({
    does: "Makes the partitions of the audit trail ahead of time and drops those that are over.",
    runs: "every replica",
    group,
    everyMs: 60 * 60_000,
    later: true,
    steady: true,
    stopLimitMs: 0,
    work: ({ audit }) => keepPartitions(audit.background.pool),
    failure: "audit: partitions could not be maintained",
    everyFailure: true,
  }),
};
