import { openAudit } from "@harrier/audit";
import { openBackend } from "@harrier/backend";
import { commandsOf, IdBlocks } from "@harrier/db";
import { createRelay, readWaitingSince } from "@harrier/events";
import type { Jobs } from "@harrier/jobs";
import { backgroundWork, type FaultPoint, faultPoint, type Log, type Stoppable, TenantLimiter } from "@harrier/service";
import type { RolloutEngineConfig } from "./config.ts";
import { type JobName, jobs as jobList } from "./jobs.ts";
import { makePartitions } from "./maintenance/maintenance.ts";
import { mountAll } from "./mount-all.ts";
import { rolloutsHandlers } from "./rollouts/rollouts.rpc.ts";
import { ownSchema } from "./schema.ts";

const service = "rollout-engine";
const { schema } = ownSchema;

/** Rollouts read these published views of other services. */
const needs = [
  { schema: "controller", view: "targets_v1" },
  { schema: "controller", view: "target_attributes_v1" },
  { schema: "controller", view: "target_tag_links_v1" },
  { schema: "controller", view: "target_metadata_v1" },
  { schema: "controller", view: "auto_confirmations_v1" },
  { schema: "controller", view: "actions_v1" },
  { schema: "controller", view: "group_progress_v1" },
  { schema: "controller", view: "group_changes_v1" },
  { schema: "controller", view: "fleet_changes_v1" },
  { schema: "controller", view: "rollout_failures_v1" },
  { schema: "controller", view: "rollout_progress_v1" },
  { schema: "management", view: "tenants_v1" },
  { schema: "management", view: "tenant_settings_v1" },
  { schema: "management", view: "tenant_quotas_v1" },
  { schema: "management", view: "distribution_sets_v1" },
  { schema: "management", view: "set_completeness_v1" },
  { schema: "management", view: "target_types_v1" },
  { schema: "management", view: "target_type_set_types_v1" },
  { schema: "management", view: "target_tags_v1" },
  { schema: "management", view: "distribution_set_tags_v1" },
  { schema: "management", view: "distribution_set_tag_links_v1" },
];

/** Four rollouts and the filters work at the same time, with leases and the outbox beside them. */
const backgroundConnections = 8;

/** Commands of other services, such as the erasure of a tenant, have their own connections, so that users do not wait for them. */
const commandConnections = 4;

/** Builds and starts the whole service; returns what has to be stopped. */
export async function startRolloutEngine(config: RolloutEngineConfig, log: Log): Promise<readonly Stoppable[]> {
  const database = { backgroundMax: backgroundConnections, commandsMax: commandConnections };
  const backend = await openBackend({ service, config, log, schema: ownSchema, needs, database });
  const { db, background } = backend;
  await makePartitions(background, config.HARRIER_EVENT_DAYS);

  const now = Date.now;
  const fault = (name: string): unknown => faultPoint(name as FaultPoint);
  const catalogue = backend.client("harrier.management.v1.CatalogueService", config.HARRIER_MANAGEMENT_GRPC);
  const actions = backend.client("harrier.controller.v1.ActionsService", config.HARRIER_CONTROLLER_GRPC);
  const targets = backend.client("harrier.controller.v1.TargetsService", config.HARRIER_CONTROLLER_GRPC);

  const audit = await openAudit({ db, schema, key: config.HARRIER_AUDIT_KEY, onEnded: () => jobs.wake("audit-seal"), log });
  const relay = createRelay({ db: background, schema, brokers: config.HARRIER_KAFKA_BROKERS, clientId: `harrier-${service}`, log, fault });
  const wakeFor = (worker: JobName) => (): void => {
    jobs.wake(worker);
    // what comes of a command is looked for at the pace of work under way
    jobs.wake("due-work");
  };
  const wake = wakeFor("rollouts");
  const workers = {
    rollouts: { db: background, actions, fault, now },
    autoAssignments: { db: background, catalogue, actions, fault, now },
    dynamicRollouts: { db: background, wake, now },
    dueWork: { db: background, wake: (worker: JobName) => jobs.wake(worker) },
  };
  const waiting = config.HARRIER_KAFKA_BROKERS ? () => readWaitingSince(background.pool) : undefined;
  const nodeStatus = backend.nodeStatus(() => jobs.states(), waiting);
  const eventDays = config.HARRIER_EVENT_DAYS;
  const jobs: Jobs<JobName> = backend.jobs(jobList, { ...workers, audit, background, relay, eventDays, nodeStatus });
  backend.run(jobs.group("audit"));

  backend.rpc().add("harrier.rolloutengine.v1.RolloutsService", rolloutsHandlers({ db: commandsOf(db), wake }));
  const http = backend.http({
    restDialect: config.HARRIER_REST_DIALECT,
    unknownMembers: config.HARRIER_UNKNOWN_MEMBERS,
    audit: audit.trail,
    limiter: new TenantLimiter(),
  });
  const ids = new IdBlocks(db.pool);
  mountAll(http.mount, {
    rollouts: { db, ids, catalogue, wake, fault, now },
    groups: { db, targets, now },
    filters: { db, ids, catalogue, wake: wakeFor("auto-assignments"), now },
  });

  await backend.listen();
  backend.add(backgroundWork(jobs.group("rollouts")));
  await backend.whenReadable(() => void jobs.group("rollouts").start());
  backend.runUntilDrained(jobs.group());
  return backend.parts;
}
