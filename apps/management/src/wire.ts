import { openAudit } from "@harrier/audit";
import { openBackend } from "@harrier/backend";
import { createSecretBox, type Database, IdBlocks } from "@harrier/db";
import { createEgress } from "@harrier/egress";
import { createRelay, readWaitingSince } from "@harrier/events";
import type { Jobs } from "@harrier/jobs";
import { backgroundWork, type FaultPoint, faultPoint, Limiter, type Log, type Stoppable, TenantLimiter } from "@harrier/service";
import { catalogueHandlers } from "./catalogue/catalogue.rpc.ts";
import type { ManagementConfig } from "./config.ts";
import { createChanges } from "./events/changes.ts";
import { identityHandlers } from "./identity/identity.rpc.ts";
import { createPrincipalFeed } from "./identity/principal-feed.ts";
import { InvalidationWorker } from "./invalidation/invalidation-worker.ts";
import { type JobName, jobs as jobList } from "./jobs.ts";
import { makePartitions } from "./maintenance/maintenance.ts";
import { type Broker, createBroker } from "./messaging/broker.ts";
import { createStreamPublisher } from "./messaging/stream-publisher.ts";
import { mountAll } from "./mount-all.ts";
import { SigningKeys } from "./oauth-tokens/signing-keys.ts";
import { serveTokenEndpoint } from "./oauth-tokens/token-endpoint.ts";
import { ownSchema } from "./schema.ts";
import { DeletionWorker } from "./tenants/deletion-worker.ts";
import { ownersOf } from "./tenants/erase-tenant.ts";
import { ensureDefaultTenant } from "./tenants/seed-tenant.ts";
import { ensureAdministrator } from "./users/ensure-administrator.ts";

const { schema } = ownSchema;

/** Answers are made of these published views of other services. */
const needs = [
  { schema: "controller", view: "targets_v1" },
  { schema: "controller", view: "target_attributes_v1" },
  { schema: "controller", view: "target_tag_links_v1" },
  { schema: "controller", view: "target_metadata_v1" },
  { schema: "controller", view: "auto_confirmations_v1" },
  { schema: "controller", view: "actions_v1" },
  { schema: "controller", view: "action_statuses_v1" },
  { schema: "controller", view: "action_messages_v1" },
  { schema: "controller", view: "target_counts_v1" },
  { schema: "controller", view: "target_usage_v1" },
  { schema: "controller", view: "monthly_counts_v1" },
  { schema: "controller", view: "monthly_counts_start_v1" },
  { schema: "controller", view: "fleet_counts_v1" },
  { schema: "controller", view: "fleet_walks_v1" },
  { schema: "controller", view: "fleet_days_v1" },
  { schema: "controller", view: "fleet_day_walks_v1" },
  { schema: "controller", view: "message_refusals_v1" },
  { schema: "controller", view: "events_v1" },
  { schema: "controller", view: "nodes_v1" },
  { schema: "artifact_store", view: "nodes_v1" },
  { schema: "rollout_engine", view: "nodes_v1" },
  { schema: "artifact_store", view: "data_traffic_v1" },
  { schema: "rollout_engine", view: "events_v1" },
  { schema: "rollout_engine", view: "rollouts_v1" },
  { schema: "rollout_engine", view: "rollout_groups_v1" },
  { schema: "rollout_engine", view: "target_filters_v1" },
  { schema: "rollout_engine", view: "rollout_months_v1" },
  { schema: "rollout_engine", view: "rollout_months_start_v1" },
  ...["management_audit", "rollout_engine_audit", "artifact_store_audit"].flatMap((schema) =>
    ["audit_v1", "audit_batches_v1", "audit_chain_v1", "audit_anchors_v1"].map((view) => ({ schema, view })),
  ),
];

const dayMs = 24 * 60 * 60 * 1000;

/** Password hashes take half of node's threads for such work: the others are for files and DNS. A client that waits longer than 25 s has hung up. */
const passwordHashes = { concurrency: 2, waiting: 200 };

/** Builds the whole service and starts it; returns what has to be stopped. */
export async function startManagement(config: ManagementConfig, log: Log): Promise<readonly Stoppable[]> {
  const { HARRIER_EVENT_DAYS: eventDays } = config;
  const secrets = createSecretBox(config.HARRIER_SECRET_KEY);
  const backend = await openBackend({ service: "management", config, log, schema: ownSchema, needs });
  const { db, background } = backend;
  await makePartitions(background, eventDays);
  const ids = new IdBlocks(db.pool);
  await seed(config, db, ids);

  const targets = backend.client("harrier.controller.v1.TargetsService", config.HARRIER_CONTROLLER_GRPC);
  const actions = backend.client("harrier.controller.v1.ActionsService", config.HARRIER_CONTROLLER_GRPC);
  const artifacts = backend.client("harrier.artifactstore.v1.ArtifactsService", config.HARRIER_ARTIFACT_STORE_GRPC);
  const rollouts = backend.client("harrier.rolloutengine.v1.RolloutsService", config.HARRIER_ROLLOUT_ENGINE_GRPC);
  const feed = createPrincipalFeed(background.pool, () => jobs.wake("principal-feed"));
  const signingKeys = new SigningKeys({ db: background, secrets, log, rotateMs: config.HARRIER_OAUTH_KEY_DAYS * dayMs });
  const issuer = config.HARRIER_OAUTH_ISSUER.replace(/\/+$/, "");

  const broker = brokerOf(config);
  const owners = ownersOf({ db: background, rollouts, targets, artifacts, broker });
  const lateMs = config.HARRIER_LATE_REQUESTS_SECONDS * 1_000;
  const deletions = new DeletionWorker({ db: background, owners, log, lateMs });
  const invalidations = new InvalidationWorker({ db: background, rollouts, actions, log });
  const audit = await openAudit({ db, schema, key: config.HARRIER_AUDIT_KEY, onEnded: () => jobs.wake("audit-seal"), log });
  const changes = createChanges({ db: background.pool, onFirst: () => jobs.wake("event-streams") });
  const fault = (name: string): unknown => faultPoint(name as FaultPoint);
  const relay = createRelay({ db: background, schema, brokers: config.HARRIER_KAFKA_BROKERS, clientId: "harrier-management", log, fault });
  const egress = createEgress({ allowed: config.HARRIER_EGRESS_ALLOW });
  const publisher = broker === undefined ? undefined : createStreamPublisher(config.HARRIER_AMQP_URL ?? "");
  const workers = {
    publications: { db: background, publisher, changes, eventDays, now: Date.now, fault, log },
    deliveries: { db: background, secrets, egress, changes, eventDays, now: Date.now, log },
    deletions,
    invalidations,
    releases: { db: background.pool, artifacts, log },
    targetDeletions: { db: background, targets, log },
    targetChanges: { db: background, targets, actions, log },
  };
  const waiting = config.HARRIER_KAFKA_BROKERS ? () => readWaitingSince(background.pool) : undefined;
  const nodeStatus = backend.nodeStatus(() => jobs.states(), waiting);
  const jobs: Jobs<JobName> = backend.jobs(jobList, {
    ...workers,
    audit,
    background,
    signingKeys,
    feed,
    changes,
    relay,
    eventDays,
    nodeStatus,
  });
  backend.run(jobs.group("partitions"));
  backend.run(jobs.group("audit"));
  if (publisher !== undefined) backend.add(publisher);
  backend.add(backgroundWork(jobs.group()));
  backend.add(jobs.group("signing-keys"));

  const hashing = new Limiter(passwordHashes);
  const sessions = { sessionTtl: config.HARRIER_SESSION_TTL, sessionIdle: config.HARRIER_SESSION_IDLE };
  const signIns = { db: db.signIn, defaultTenant: config.HARRIER_DEFAULT_TENANT, hashing, feed, keys: signingKeys, issuer, ...sessions };
  backend
    .rpc({ beforeAnswer: () => faultPoint("management.rpc.before-answer") })
    .add("harrier.management.v1.CatalogueService", catalogueHandlers({ db, ids, fault: faultPoint }))
    .add("harrier.management.v1.IdentityService", identityHandlers(signIns));
  // it stops before the gRPC server, because the streams of the feed last as long as it does
  backend.add(jobs.group("feed"));
  const http = backend.http({
    restDialect: config.HARRIER_REST_DIALECT,
    unknownMembers: config.HARRIER_UNKNOWN_MEMBERS,
    audit: audit.trail,
    limiter: new TenantLimiter(),
  });
  mountAll(http.mount, {
    db,
    ids,
    secrets,
    targets,
    actions,
    invalidations,
    changes,
    eventDays,
    egress,
    egressAllowed: config.HARRIER_EGRESS_ALLOW,
    wakeWebhooks: () => jobs.wake("webhooks"),
    broker,
    wake: () => jobs.wake("artifact-releases"),
    wakeOperations: () => jobs.wake("tenant-deletions"),
    wakeTargetDeletions: () => jobs.wake("target-deletions"),
    wakeTargetChanges: () => jobs.wake("target-changes"),
    wakeInvalidations: () => jobs.wake("invalidations"),
    auditKeys: config.HARRIER_AUDIT_PUBLIC_KEYS,
    now: Date.now,
    fault: faultPoint,
  });
  serveTokenEndpoint(http.app, { db: db.signIn, keys: signingKeys, issuer, log });

  await signingKeys.refresh();
  void jobs.group("signing-keys").start();
  await feed.read();
  void jobs.group("feed").start();
  await backend.listen();
  await backend.whenReadable(() => void jobs.group().start());
  return backend.parts;
}

async function seed(config: ManagementConfig, db: Database, ids: IdBlocks): Promise<void> {
  const { tenantId } = await ensureDefaultTenant({ db: db.pool }, config.HARRIER_DEFAULT_TENANT);
  const administrator = { tenantId, name: config.HARRIER_ADMIN_USER, password: config.HARRIER_ADMIN_PASSWORD };
  await ensureAdministrator({ db: db.pool, ids }, administrator);
}

/** Both addresses belong together: without one of them messaging is not available. */
function brokerOf(config: ManagementConfig): Broker | undefined {
  const { HARRIER_AMQP_URL: url, HARRIER_AMQP_MANAGEMENT_URL: managementUrl, HARRIER_AMQP_PUBLIC_URL: publicUrl } = config;
  if (url === undefined || managementUrl === undefined) return undefined;
  const own = new URL(url);
  return createBroker({
    publicUrl: new URL(publicUrl ?? url),
    serviceUser: decodeURIComponent(own.username),
    managementUrl: new URL(managementUrl),
  });
}
