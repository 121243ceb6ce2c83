import { fileURLToPath } from "node:url";
import { startAudit } from "@harrier/audit";
import {
  applyViews,
  backgroundOf,
  checkNeeds,
  clockAheadMs,
  countTrips,
  createDatabase,
  createSecretBox,
  type Database,
  ensurePartitions,
  IdBlocks,
  migrate,
  startWhenReadable,
  untilAborted,
} from "@harrier/db";
import { createClient, createRpcServer, parseKeys } from "@harrier/rpc";
import {
  backgroundWork,
  createClockCheck,
  createHttp,
  createMetrics,
  drainOf,
  faultPoint,
  type Log,
  type Stoppable,
  TenantLimiter,
  Turns,
  tlsOf,
} from "@harrier/service";
import { catalogueHandlers } from "./catalogue/catalogue.rpc.ts";
import type { ManagementConfig } from "./config.ts";
import { identityHandlers } from "./identity/identity.rpc.ts";
import { PrincipalFeed } from "./identity/principal-feed.ts";
import { InvalidationWorker } from "./invalidation/invalidation-worker.ts";
import { mountAll } from "./mount-all.ts";
import { SigningKeys } from "./oauth-tokens/signing-keys.ts";
import { serveTokenEndpoint } from "./oauth-tokens/token-endpoint.ts";
import { ReleaseWorker } from "./operations/release-worker.ts";
import { metadataWalk } from "./quotas/metadata-walk.ts";
import { TargetDeletionWorker } from "./target-deletion/target-deletion-worker.ts";
import { DeletionWorker } from "./tenants/deletion-worker.ts";
import { ownersOf } from "./tenants/erase-tenant.ts";
import { ensureDefaultTenant } from "./tenants/seed-tenant.ts";
import { ensureAdministrator } from "./users/ensure-administrator.ts";

const schema = "management";

/** Published views of others that answers are made of. */
const needs = [
  { schema: "controller", view: "targets_v1" },
  { schema: "controller", view: "target_attributes_v1" },
  { schema: "controller", view: "target_tag_links_v1" },
  { schema: "controller", view: "target_metadata_v1" },
  { schema: "controller", view: "auto_confirmations_v1" },
  { schema: "controller", view: "actions_v1" },
  { schema: "controller", view: "action_statuses_v1" },
  { schema: "controller", view: "target_counts_v1" },
  { schema: "controller", view: "target_usage_v1" },
  { schema: "artifact_store", view: "data_traffic_v1" },
  { schema: "rollout_engine", view: "rollouts_v1" },
  { schema: "rollout_engine", view: "rollout_groups_v1" },
  { schema: "rollout_engine", view: "target_filters_v1" },
  ...["management_audit", "rollout_engine_audit", "artifact_store_audit"].flatMap((schema) =>
    ["audit_v1", "audit_batches_v1", "audit_chain_v1", "audit_anchors_v1"].map((view) => ({ schema, view })),
  ),
];

/** Append-only tables; a command is repeated within seconds, a change is read within one. */
const partitioned = [
  { name: "commands", every: "day", ahead: 3, keep: 7 },
  { name: "credential_changes", every: "day", ahead: 3, keep: 7 },
] as const;
const dayMs = 24 * 60 * 60 * 1000;
const partitionsEveryMs = 6 * 60 * 60 * 1000;

/** Half of the threads that node has for such work: the rest is for files and names. Who must wait longer than 25 s for his turn has gone. */
const passwordHashes = { atOnce: 2, waiting: 200 };

/** Builds the whole service and starts it; returns what has to be stopped. */
export async function startManagement(config: ManagementConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, "management");
  const secrets = createSecretBox(config.HARRIER_SECRET_KEY);
  const mutualTls = tlsOf(config);
  const tls = mutualTls === undefined ? {} : { tls: mutualTls };
  const onConnectionError = (err: Error): void => log.warn({ err }, "an idle database connection broke");
  const db = createDatabase({ url: config.HARRIER_DATABASE_URL, applicationName: "harrier/management", onConnectionError });
  // what nobody waits for has connections of its own, so that it neither takes those of requests nor waits behind them
  const background = backgroundOf(db);
  await prepareSchema(background);
  const ids = new IdBlocks(db.pool);
  await seed(config, db, ids);

  const metrics = createMetrics({ service: "management" });
  const client = { caller: "management", keys, log, observe: metrics.observeRpc, ...tls } as const;
  const targets = createClient("harrier.controller.v1.TargetsService", { ...client, addresses: config.HARRIER_CONTROLLER_GRPC });
  const actions = createClient("harrier.controller.v1.ActionsService", { ...client, addresses: config.HARRIER_CONTROLLER_GRPC });
  const artifacts = createClient("harrier.artifactstore.v1.ArtifactsService", { ...client, addresses: config.HARRIER_ARTIFACT_STORE_GRPC });
  const rollouts = createClient("harrier.rolloutengine.v1.RolloutsService", { ...client, addresses: config.HARRIER_ROLLOUT_ENGINE_GRPC });
  const feed = new PrincipalFeed({ db: background.pool, log });
  const releases = new ReleaseWorker({ db: background.pool, artifacts, log });
  const signingKeys = new SigningKeys({ db: background, secrets, log, rotateMs: config.HARRIER_OAUTH_KEY_DAYS * dayMs });
  const issuer = config.HARRIER_OAUTH_ISSUER.replace(/\/+$/, "");

  const owners = ownersOf({ db: background, rollouts, targets, artifacts });
  const deletions = new DeletionWorker({ db: background, owners, log, lateMs: config.HARRIER_LATE_REQUESTS_SECONDS * 1_000 });

  const invalidations = new InvalidationWorker({ db: background, rollouts, actions, log });
  const metadataUsage = metadataWalk({ db: background.pool, log });
  const targetDeletions = new TargetDeletionWorker({ db: background, targets, log });

  const readiness = {
    database: async () => checkNeeds(db.pool, needs),
    clock: createClockCheck({ aheadMs: () => clockAheadMs(db.pool), log }),
  };
  const restDialect = config.HARRIER_REST_DIALECT;
  const audit = await startAudit({ db, schema, key: config.HARRIER_AUDIT_KEY, log });
  const http = createHttp({
    drain: drainOf(config),
    service: "management",
    keys,
    log,
    metrics,
    readiness,
    restDialect,
    unknownMembers: config.HARRIER_UNKNOWN_MEMBERS,
    countTrips,
    audit: audit.trail,
    limiter: new TenantLimiter(),
    ...tls,
  });
  const nudges = { nudge: releases.nudge, nudgeOperations: deletions.nudge, nudgeTargetDeletions: targetDeletions.nudge };
  mountAll(http.mount, {
    db,
    ids,
    secrets,
    targets,
    actions,
    invalidations,
    ...nudges,
    auditKeys: config.HARRIER_AUDIT_PUBLIC_KEYS,
    now: Date.now,
    fault: faultPoint,
  });
  serveTokenEndpoint(http.app, { db: db.signIn, keys: signingKeys, issuer, log });
  const rpc = createRpcServer({
    service: "management",
    host: config.HARRIER_HTTP_HOST,
    port: config.HARRIER_GRPC_PORT,
    keys,
    log,
    observe: metrics.observeRpc,
    within: untilAborted,
    beforeAnswer: () => faultPoint("management.rpc.before-answer"),
    ...tls,
  })
    .add("harrier.management.v1.CatalogueService", catalogueHandlers({ db, ids, fault: faultPoint }))
    .add(
      "harrier.management.v1.IdentityService",
      identityHandlers({
        db: db.signIn,
        defaultTenant: config.HARRIER_DEFAULT_TENANT,
        hashing: new Turns(passwordHashes),
        feed,
        keys: signingKeys,
        issuer,
      }),
    );

  await signingKeys.start();
  await feed.start();
  await rpc.start();
  await http.listen(config.HARRIER_HTTP_HOST, config.HARRIER_HTTP_PORT);
  const start = (): void => {
    releases.start();
    deletions.start();
    invalidations.start();
    targetDeletions.start();
    metadataUsage.start();
  };
  const reading = await startWhenReadable({ pool: db.pool, needs, start });
  const partitions = setInterval(() => {
    ensurePartitions({ pool: background.pool, schema, tables: partitioned }).catch((err: unknown) =>
      log.error({ err }, "partitions cannot be made"),
    );
  }, partitionsEveryMs);
  return [
    db,
    targets,
    actions,
    artifacts,
    rollouts,
    () => clearInterval(partitions),
    audit,
    backgroundWork(releases),
    backgroundWork(deletions),
    signingKeys,
    backgroundWork(invalidations),
    backgroundWork(targetDeletions),
    backgroundWork(metadataUsage),
    rpc,
    feed,
    http,
    backgroundWork(reading),
  ];
}

async function prepareSchema(db: Database): Promise<void> {
  const migrations = fileURLToPath(new URL("../migrations", import.meta.url));
  await migrate({ pool: db.pool, schema, dir: migrations });
  await applyViews({ pool: db.pool, schema, dir: fileURLToPath(new URL("../views", import.meta.url)), migrations });
  await ensurePartitions({ pool: db.pool, schema, tables: partitioned });
}

async function seed(config: ManagementConfig, db: Database, ids: IdBlocks): Promise<void> {
  const { tenantId } = await ensureDefaultTenant({ db: db.pool }, config.HARRIER_DEFAULT_TENANT);
  const administrator = { tenantId, name: config.HARRIER_ADMIN_USER, password: config.HARRIER_ADMIN_PASSWORD };
  await ensureAdministrator({ db: db.pool, ids }, administrator);
}
