import { randomUUID } from "node:crypto";
import { openAudit } from "@harrier/audit";
import {
  backgroundOf,
  commandsOf,
  countRoundTrips,
  createDatabase,
  createDatabaseState,
  prepareSchema,
  startWhenReadable,
  untilAborted,
} from "@harrier/db";
import { createJobs, type Jobs } from "@harrier/jobs";
import { createClient, createRpcServer, parseKeys, servicePrincipal } from "@harrier/rpc";
import {
  backgroundWork,
  createClockCheck,
  createHttp,
  createMetrics,
  drainOf,
  faultPoint,
  type Log,
  type Stoppable,
  tlsOf,
} from "@harrier/service";
import { artifactsHandlers } from "./blobs/artifacts.rpc.ts";
import type { ArtifactStoreConfig, StorageSettings } from "./config.ts";
import { mountDownloads } from "./download/download.routes.ts";
import { DownloadBuffer } from "./download/download-buffer.ts";
import { createJanitor } from "./janitor/janitor.ts";
import { jobs as jobList } from "./jobs.ts";
import { mountResumable } from "./resumable/resumable.routes.ts";
import { ownSchema } from "./schema.ts";
import { createDirectoryStorage } from "./storage/directory.ts";
import { createReserve } from "./storage/reserve.ts";
import type { Storage } from "./storage/storage.ts";
import { createTraffic } from "./traffic/traffic.ts";
import { mountUpload } from "./upload/upload.routes.ts";

const { schema } = ownSchema;

/** Downloads read these published views of other services. */
const needs = [
  { schema: "controller", view: "artifact_grants_v1" },
  { schema: "management", view: "artifacts_v1" },
  { schema: "management", view: "set_modules_v1" },
  { schema: "management", view: "software_modules_v1" },
  { schema: "management", view: "tenant_quotas_v1" },
  { schema: "management", view: "tenants_v1" },
];

const idleMs = 30_000;
const recordDeadlineMs = 5_000;

/** A blob's row stays locked while its bytes are copied or deleted, which may take the store minutes for gigabytes. */
const storeMs = 600_000;
const storeLimits = { lockMs: 30_000 };

/** Commands release artifacts and erase tenants (three blobs at a time); uploads and downloads have connections of their own. */
const commandConnections = 4;

/** Builds and starts the whole service, and returns what has to be stopped. */
export async function startArtifactStore(config: ArtifactStoreConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, "artifact-store");
  const tls = tlsOf(config);
  const onConnectionError = (error: Error): void => log.warn({ err: error }, "an idle database connection broke");
  const db = createDatabase({
    url: config.HARRIER_DATABASE_URL,
    applicationName: "harrier/artifact-store",
    limits: storeLimits,
    idleInTransactionMs: storeMs,
    commandsMax: commandConnections,
    onConnectionError,
  });
  const background = backgroundOf(db);
  await prepareSchema({ pool: background.pool, ...ownSchema });
  const storage = await createStorage(config.storage, log);
  await storage.prepare();

  const metrics = createMetrics({ service: "artifact-store" });
  const now = Date.now;
  const common = { caller: "artifact-store", keys, log, observe: metrics.observeRpc, ...(tls === undefined ? {} : { tls }) } as const;
  const catalogue = createClient("harrier.management.v1.CatalogueService", { ...common, addresses: config.HARRIER_MANAGEMENT_GRPC });
  const actions = createClient("harrier.controller.v1.ActionsService", { ...common, addresses: config.HARRIER_CONTROLLER_GRPC });
  const downloadBuffer = new DownloadBuffer({
    send: async (downloads, commandId) => {
      const call = { principal: servicePrincipal("artifact-store"), rid: randomUUID(), deadline: now() + recordDeadlineMs, commandId };
      await actions.noteDownloads({ downloads: [...downloads] }, call);
    },
    onDropped: (count, error) => log.warn({ err: error, count }, "download notes were dropped"),
    now,
  });

  const traffic = createTraffic({ pool: background.pool, now });
  const state = createDatabaseState(db.pool, needs);
  const readiness = {
    database: () => state.missingViews(),
    clock: createClockCheck({ aheadMs: () => state.clockAheadMs(), log }),
    quotas: async () => traffic.ready() || "the tenants' data volumes have not been read yet",
    storage: async () => {
      const warning = await storage.warning();
      return warning === undefined ? true : { warning };
    },
  };
  const audit = await openAudit({ db, schema, key: config.HARRIER_AUDIT_KEY, onEnded: () => jobs.wake("audit-seal"), log });
  const janitor = createJanitor({ db: background, storage, catalogue, fault: faultPoint, now, log });
  const jobs: Jobs<keyof typeof jobList> = createJobs(
    jobList,
    { audit, janitor, traffic, downloadBuffer },
    { log, registry: metrics.registry },
  );
  void jobs.group("audit").start();
  const secure = tls === undefined ? {} : { tls };
  const http = createHttp({
    drain: drainOf(config),
    service: "artifact-store",
    keys,
    log,
    metrics,
    readiness,
    countRoundTrips,
    audit: audit.trail,
    ...secure,
  });
  mountUpload(http.mount, { db, storage, catalogue, fault: faultPoint, now, idleMs });
  mountResumable(http.mount, { db, storage, catalogue, fault: faultPoint, now, idleMs });
  mountDownloads(http.mount, { db, storage, downloadBuffer, traffic, now, idleMs });
  const rpc = createRpcServer({
    service: "artifact-store",
    host: config.HARRIER_HTTP_HOST,
    port: config.HARRIER_GRPC_PORT,
    keys,
    log,
    observe: metrics.observeRpc,
    within: untilAborted,
    beforeAnswer: () => faultPoint("artifact-store.rpc.before-answer"),
    ...(tls === undefined ? {} : { tls }),
  }).add("harrier.artifactstore.v1.ArtifactsService", artifactsHandlers({ db: commandsOf(db), storage, log }));

  const reading = await startWhenReadable({ pool: db.pool, needs, start: () => void jobs.group("downloads").start() });
  await rpc.start();
  await http.listen(config.HARRIER_HTTP_HOST, config.HARRIER_HTTP_PORT);
  void jobs.group().start();
  // tests take the counter from here, so that they need not wait for its next write
  const downloads = { ...jobs.group("downloads"), traffic };
  return [db, jobs.group("audit"), catalogue, actions, downloads, backgroundWork(jobs.group()), rpc, http, backgroundWork(reading)];
}

async function createStorage(settings: StorageSettings, log: Log): Promise<Storage> {
  if (settings.kind === "s3") {
    // the client of S3 is loaded where it is used: with what it needs it takes fifteen megabytes
    const { createS3Storage } = await import("./storage/s3.ts");
    return createS3Storage(settings);
  }
  return createDirectoryStorage(settings.path, createReserve(settings.path, { bytes: settings.reserveBytes, log }));
}
