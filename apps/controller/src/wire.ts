import {
  backgroundOf,
  commandsOf,
  countRoundTrips,
  createDatabase,
  createDatabaseState,
  createSecretBox,
  deviceLimits,
  IdBlocks,
  prepareSchema,
  startWhenReadable,
} from "@harrier/db";
import { createRelay } from "@harrier/events";
import { createJobs, type Jobs } from "@harrier/jobs";
import { createRpcServer, parseKeys } from "@harrier/rpc";
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
  tlsOf,
} from "@harrier/service";
import { actionsHandlers } from "./actions/actions.rpc.ts";
import { createArtifactLinks } from "./artifacts/artifact-links.ts";
import { commandsByTenant } from "./commands-by-tenant.ts";
import type { ControllerConfig } from "./config.ts";
import { createDeploymentDocuments } from "./deployment/documents.ts";
import { mountDeviceInterface } from "./device-interface.ts";
import { createReportRecorder } from "./feedback/record-report.ts";
import { createCredentialFeed } from "./identity/credential-feed.ts";
import { deviceIdentityHandlers } from "./identity/device-identity.rpc.ts";
import { jobs as jobList } from "./jobs.ts";
import { makePartitions } from "./maintenance/maintenance.ts";
import { createLastPolls } from "./poll/last-polls.ts";
import { createPollReader } from "./poll/poll-reader.ts";
import { createRetrievalRecorder } from "./retrieval/record-retrieval.ts";
import { ownSchema } from "./schema.ts";
import { createTenantSettings } from "./settings/tenant-settings.ts";
import { targetsHandlers } from "./targets/targets.rpc.ts";

const service = "controller";

/** This service reads these published views of others. */
const needs = [
  { schema: "management", view: "tenants_v1" },
  { schema: "management", view: "tenant_settings_v1" },
  { schema: "management", view: "tenant_quotas_v1" },
  { schema: "management", view: "device_credentials_v1" },
  { schema: "management", view: "credential_changes_v1" },
  { schema: "management", view: "distribution_sets_v1" },
  { schema: "management", view: "set_modules_v1" },
  { schema: "management", view: "software_modules_v1" },
  { schema: "management", view: "artifacts_v1" },
  { schema: "management", view: "target_types_v1" },
  { schema: "management", view: "target_type_set_types_v1" },
  { schema: "management", view: "target_tags_v1" },
  { schema: "rollout_engine", view: "group_members_v1" },
  { schema: "rollout_engine", view: "rollouts_v1" },
  { schema: "rollout_engine", view: "target_filters_v1" },
  { schema: "rollout_engine", view: "auto_assign_candidates_v1" },
];

/** These connections serve commands of rollout-engine and management, the ids that they need included; devices have ten of their own. */
const commandConnections = 8;

/** Builds the whole service and starts it; returns what has to be stopped. */
export async function startController(config: ControllerConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, "controller");
  const tls = tlsOf(config);
  const secure = tls === undefined ? {} : { tls };
  const onConnectionError = (error: Error): void => log.warn({ err: error }, "an idle database connection broke");
  const db = createDatabase({
    url: config.HARRIER_DATABASE_URL,
    applicationName: `harrier/${service}`,
    limits: deviceLimits,
    commandsMax: commandConnections,
    backgroundMax: 5, // readiness needs one of them
    onConnectionError,
  });
  const background = backgroundOf(db);
  const commands = commandsOf(db);
  await prepareSchema({ pool: background.pool, ...ownSchema });
  await makePartitions(background, config.HARRIER_EVENT_DAYS);

  const metrics = createMetrics({ service });
  const now = Date.now;
  const fault = (name: string): unknown => faultPoint(name as FaultPoint);
  const secrets = createSecretBox(config.HARRIER_SECRET_KEY);
  const deviceIds = new IdBlocks(db.pool);
  const commandIds = new IdBlocks(commands.pool);
  const settings = createTenantSettings({ pool: background.pool });
  const limits = (tenantId: number) => settings.get(tenantId).quotas;
  const lastPolls = createLastPolls({ pool: background.pool });
  const documents = createDeploymentDocuments({ pool: db.pool });
  const feed = createCredentialFeed(background.pool, (revision) => {
    if (!settings.isAt(revision)) jobs.wake("tenant-settings");
  });

  const state = createDatabaseState(background.pool, needs);
  const readiness = {
    // Readiness does not use the devices' connections: many requests of theirs must not look like a service that is not ready, nor the check take one
    // of them.
    database: () => state.missingViews(),
    clock: createClockCheck({ aheadMs: () => state.clockAheadMs(), log }),
    settings: async () => settings.ready() || "tenant settings have not been read yet",
  };
  const http = createHttp({ drain: drainOf(config), service, keys, log, metrics, readiness, countRoundTrips, ...secure });
  const links = createArtifactLinks(settings, { links: config.HARRIER_ARTIFACT_LINKS, host: config.HARRIER_DOWNLOAD_URL });
  mountDeviceInterface(http.mount, {
    db,
    readPoll: createPollReader(db.pool),
    recordReport: createReportRecorder(db.pool),
    recordRetrieval: createRetrievalRecorder(db.pool),
    settings,
    limits,
    lastPolls,
    documents,
    links,
    ids: deviceIds,
    secrets,
    now,
  });
  const host = config.HARRIER_HTTP_HOST;
  const beforeAnswer = () => faultPoint("controller.rpc.before-answer");
  const rpc = createRpcServer({
    service,
    host,
    port: config.HARRIER_GRPC_PORT,
    keys,
    log,
    observe: metrics.observeRpc,
    within: commandsByTenant(),
    beforeAnswer,
    ...secure,
  })
    .add("harrier.controller.v1.DeviceIdentityService", deviceIdentityHandlers({ db: db.signIn, feed }))
    .add("harrier.controller.v1.TargetsService", targetsHandlers({ db: commands, ids: commandIds, secrets, limits, fault }))
    .add("harrier.controller.v1.ActionsService", actionsHandlers({ db: commands, ids: commandIds, limits, settings, fault, now }));
  const relay = createRelay({
    db: background,
    schema: "controller",
    brokers: config.HARRIER_KAFKA_BROKERS,
    clientId: `harrier-${service}`,
    log,
    fault,
  });

  const cleanup = { db: background, settings, fault };
  const jobs: Jobs<keyof typeof jobList> = createJobs(
    jobList,
    { background, eventDays: config.HARRIER_EVENT_DAYS, cleanup, feed, relay, settings, lastPolls },
    { log, registry: metrics.registry },
  );
  void jobs.group("last-polls").start();
  const start = async (): Promise<void> => {
    void jobs.group("settings").start();
    await jobs.group("feed").start();
  };
  const reading = await startWhenReadable({ pool: background.pool, needs, start });
  await rpc.start();
  await http.listen(host, config.HARRIER_HTTP_PORT);
  void jobs.group().start();
  // stopped from the last to the first: the feed before the gRPC server, because its streams last as long as it does
  return [
    db,
    jobs.group("settings"),
    jobs.group("last-polls"),
    rpc,
    jobs.group("feed"),
    backgroundWork(jobs.group()),
    http,
    backgroundWork(reading),
  ];
}
