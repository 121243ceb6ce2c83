import { fileURLToPath } from "node:url";
import { startAudit } from "@harrier/audit";
import {
  applyViews,
  backgroundOf,
  checkNeeds,
  clockAheadMs,
  commandsOf,
  countTrips,
  createDatabase,
  type Database,
  IdBlocks,
  migrate,
  startWhenReadable,
  untilAborted,
} from "@harrier/db";
import { createRelay } from "@harrier/events";
import { createClient, createRpcServer, parseKeys } from "@harrier/rpc";
import {
  backgroundWork,
  createClockCheck,
  createHttp,
  createMetrics,
  drainOf,
  type FaultPoint,
  faultPoint,
  type Log,
  type Stoppable,
  TenantLimiter,
  tlsOf,
} from "@harrier/service";
import { AutoAssigner } from "./auto-assign/auto-assigner.ts";
import { mountAutoAssignments } from "./auto-assignments/auto-assignments.routes.ts";
import type { RolloutEngineConfig } from "./config.ts";
import { createFiller } from "./dynamic/filler.ts";
import { RolloutEngine } from "./engine/engine.ts";
import { mountFilters } from "./filters/filters.routes.ts";
import { mountGroups } from "./groups/groups.routes.ts";
import { startMaintenance } from "./maintenance/maintenance.ts";
import { mountRollouts } from "./rollouts/rollouts.routes.ts";
import { rolloutsHandlers } from "./rollouts/rollouts.rpc.ts";

const service = "rollout-engine";
const schema = "rollout_engine";

/** Published views of others that rollouts read. */
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

/** Four rollouts and the filters of target filters at a time, and the small change of leases and outbox beside them. */
const backgroundConnections = 8;

/** What other services ask for, as the end of a tenant: users do not wait for it. */
const commandConnections = 4;

/** Builds the whole service and starts it; returns what has to be stopped. */
export async function startRolloutEngine(config: RolloutEngineConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, "rollout-engine");
  const tls = tlsOf(config);
  const secure = tls === undefined ? {} : { tls };
  const onConnectionError = (error: Error): void => log.warn({ err: error }, "an idle database connection broke");
  const db = createDatabase({
    url: config.HARRIER_DATABASE_URL,
    applicationName: `harrier/${service}`,
    backgroundMax: backgroundConnections,
    commandsMax: commandConnections,
    onConnectionError,
  });
  const background = backgroundOf(db);
  await prepareSchema(background);
  const maintenance = await startMaintenance({ db: background, log });

  const metrics = createMetrics({ service });
  const now = Date.now;
  const fault = (name: string): unknown => faultPoint(name as FaultPoint);
  const calls = { caller: service, keys, log, observe: metrics.observeRpc, ...secure } as const;
  const catalogue = createClient("harrier.management.v1.CatalogueService", { ...calls, addresses: config.HARRIER_MANAGEMENT_GRPC });
  const actions = createClient("harrier.controller.v1.ActionsService", { ...calls, addresses: config.HARRIER_CONTROLLER_GRPC });
  const targets = createClient("harrier.controller.v1.TargetsService", { ...calls, addresses: config.HARRIER_CONTROLLER_GRPC });

  const assigner = new AutoAssigner({ db: background, catalogue, actions, fault, now, log });
  const engine = new RolloutEngine({ db: background, actions, fault, now, log });
  const filler = createFiller({ db: background, nudge: () => engine.nudge(), now, log });
  const readiness = {
    database: async () => checkNeeds(db.pool, needs),
    clock: createClockCheck({ aheadMs: () => clockAheadMs(db.pool), log }),
  };
  const restDialect = config.HARRIER_REST_DIALECT;
  const audit = await startAudit({ db, schema, key: config.HARRIER_AUDIT_KEY, log });
  const http = createHttp({
    drain: drainOf(config),
    service,
    keys,
    log,
    metrics,
    readiness,
    restDialect,
    unknownMembers: config.HARRIER_UNKNOWN_MEMBERS,
    countTrips,
    audit: audit.trail,
    limiter: new TenantLimiter(),
    ...secure,
  });
  const ids = new IdBlocks(db.pool);
  mountRollouts(http.mount, { db, ids, catalogue, nudge: () => engine.nudge(), fault, now });
  mountGroups(http.mount, { db, targets, now });
  const filters = { db, ids, catalogue, nudge: () => assigner.nudge(), now };
  mountFilters(http.mount, filters);
  mountAutoAssignments(http.mount, filters);
  const host = config.HARRIER_HTTP_HOST;
  const rpc = createRpcServer({
    service,
    host,
    port: config.HARRIER_GRPC_PORT,
    keys,
    log,
    observe: metrics.observeRpc,
    within: untilAborted,
    ...secure,
  }).add("harrier.rolloutengine.v1.RolloutsService", rolloutsHandlers({ db: commandsOf(db), nudge: () => engine.nudge() }));
  const relay = createRelay({ db: background, schema, brokers: config.HARRIER_KAFKA_BROKERS, clientId: `harrier-${service}`, log, fault });

  await rpc.start();
  await http.listen(host, config.HARRIER_HTTP_PORT);
  const start = (): void => {
    engine.start();
    assigner.start();
    filler.start();
  };
  const reading = await startWhenReadable({ pool: db.pool, needs, start });
  relay.start();
  return [
    db,
    audit,
    backgroundWork(maintenance),
    catalogue,
    actions,
    targets,
    rpc,
    backgroundWork(relay),
    backgroundWork(engine),
    backgroundWork(assigner),
    backgroundWork(filler),
    http,
    backgroundWork(reading),
  ];
}

async function prepareSchema(db: Database): Promise<void> {
  const migrations = fileURLToPath(new URL("../migrations", import.meta.url));
  await migrate({ pool: db.pool, schema, dir: migrations });
  await applyViews({ pool: db.pool, schema, dir: fileURLToPath(new URL("../views", import.meta.url)), migrations });
}
