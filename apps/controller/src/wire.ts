import { openBackend } from "@harrier/backend";
import { commandsOf, createSecretBox, deviceLimits, IdBlocks } from "@harrier/db";
import { createRelay, readWaitingSince } from "@harrier/events";
import type { Jobs } from "@harrier/jobs";
import { type FaultPoint, faultPoint, type Log, type Stoppable } from "@harrier/service";
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
import { freshSettings } from "./settings/fresh-settings.ts";
import { createTenantSettings } from "./settings/tenant-settings.ts";
import { targetsHandlers } from "./targets/targets.rpc.ts";
import { deviceMessagesHandlers } from "./things/device-messages.rpc.ts";

const service = "controller";

/** This service reads these published views of others. */
const needs = [
  { schema: "management", view: "tenants_v1" },
  { schema: "management", view: "tenant_settings_v1" },
  { schema: "management", view: "tenant_quotas_v1" },
  { schema: "management", view: "device_credentials_v1" },
  { schema: "management", view: "credential_changes_v1" },
  { schema: "management", view: "messaging_v1" },
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
  const backend = await openBackend({
    service,
    config,
    log,
    schema: ownSchema,
    needs,
    database: { limits: deviceLimits, commandsMax: commandConnections, backgroundMax: 5 }, // readiness needs one of them
    // Readiness does not use the devices' connections: many requests of theirs must not look like a service that is not ready, nor the check take one
    // of them.
    readinessPool: "background",
  });
  const { db, background } = backend;
  const commands = commandsOf(db);
  await makePartitions(background, config.HARRIER_EVENT_DAYS);

  const now = Date.now;
  const fault = (name: string): unknown => faultPoint(name as FaultPoint);
  const secrets = createSecretBox(config.HARRIER_SECRET_KEY);
  const commandIds = new IdBlocks(commands.pool);
  const settings = createTenantSettings({ pool: background.pool });
  const limits = (tenantId: number) => settings.get(tenantId).quotas;
  const lastPolls = createLastPolls({ pool: background.pool });
  const feed = createCredentialFeed(
    background.pool,
    (revision) => {
      if (!settings.isAt(revision)) jobs.wake("tenant-settings");
    },
    () => jobs.wake("credential-feed"),
  );
  const fresh = freshSettings(feed, settings);
  const brokers = config.HARRIER_KAFKA_BROKERS;
  const relay = createRelay({ db: background, schema: "controller", brokers, clientId: `harrier-${service}`, log, fault });
  const cleanup = { db: background, settings, fault };
  const waiting = brokers ? () => readWaitingSince(background.pool) : undefined;
  const nodeStatus = backend.nodeStatus(() => jobs.states(), waiting);
  const jobs: Jobs<keyof typeof jobList> = backend.jobs(jobList, {
    background,
    eventDays: config.HARRIER_EVENT_DAYS,
    cleanup,
    feed,
    relay,
    settings,
    lastPolls,
    settle: { db: background, ids: commandIds, limits, fault, now },
    nodeStatus,
  });
  backend.add(jobs.group("settings"));
  backend.run(jobs.group("last-polls"));

  // what devices do is the same whichever way they speak
  const ofDevices = {
    db,
    recordReport: createReportRecorder(db.pool),
    recordRetrieval: createRetrievalRecorder(db.pool),
    settings,
    limits,
    documents: createDeploymentDocuments({ pool: db.pool }),
    links: createArtifactLinks(settings, { links: config.HARRIER_ARTIFACT_LINKS, host: config.HARRIER_DOWNLOAD_URL }),
    ids: new IdBlocks(db.pool),
    secrets,
    now,
  };
  let readable = false;
  backend
    .rpc({ within: fresh.within(commandsByTenant()), beforeAnswer: () => faultPoint("controller.rpc.before-answer") })
    .add("harrier.controller.v1.DeviceIdentityService", deviceIdentityHandlers({ db: db.signIn, feed }))
    .add("harrier.controller.v1.TargetsService", targetsHandlers({ db: commands, ids: commandIds, secrets, limits, fault }))
    .add("harrier.controller.v1.ActionsService", actionsHandlers({ db: commands, ids: commandIds, limits, settings, fault, now }))
    .add(
      "harrier.controller.v1.DeviceMessagesService",
      deviceMessagesHandlers({ ...ofDevices, background, fault, log, readable: () => readable }),
    );
  // it stops before the gRPC server, because the streams of the feed last as long as it does
  backend.add(jobs.group("feed"));
  const http = backend.http({ readiness: { settings: async () => settings.ready() || "tenant settings have not been read yet" } });
  mountDeviceInterface(fresh.mount(http.mount), { ...ofDevices, readPoll: createPollReader(db.pool), lastPolls, log });

  await backend.whenReadable(async () => {
    readable = true;
    void jobs.group("settings").start();
    backend.runUntilDrained(jobs.group("views"));
    await jobs.group("feed").start();
  });
  await backend.listen();
  backend.runUntilDrained(jobs.group());
  return backend.parts;
}
