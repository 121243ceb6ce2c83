import { randomUUID } from "node:crypto";
import { openAudit } from "@harrier/audit";
import { openBackend } from "@harrier/backend";
import { commandsOf } from "@harrier/db";
import type { Jobs } from "@harrier/jobs";
import { servicePrincipal } from "@harrier/rpc";
import { faultPoint, type Log, type Stoppable } from "@harrier/service";
import { artifactsHandlers } from "./blobs/artifacts.rpc.ts";
import type { ArtifactStoreConfig } from "./config.ts";
import { mountDownloads } from "./download/download.routes.ts";
import { DownloadBuffer } from "./download/download-buffer.ts";
import { createJanitor } from "./janitor/janitor.ts";
import { jobs as jobList } from "./jobs.ts";
import { mountResumable } from "./resumable/resumable.routes.ts";
import { ownSchema } from "./schema.ts";
import { openStorage } from "./storage/open-storage.ts";
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

/** Only where there are links into the bucket the tenants' settings count. */
const needsForLinks = [...needs, { schema: "management", view: "tenant_settings_v1" }];

const idleMs = 30_000;
const recordDeadlineMs = 5_000;

/** A blob's row stays locked while its bytes are copied or deleted, which may take the store minutes for gigabytes. */
const storeMs = 600_000;
const storeLimits = { lockMs: 30_000 };

/** Commands release artifacts and erase tenants (three blobs at a time); uploads and downloads have connections of their own. */
const commandConnections = 4;

/** Builds and starts the whole service, and returns what has to be stopped. */
export async function startArtifactStore(config: ArtifactStoreConfig, log: Log): Promise<readonly Stoppable[]> {
  const database = { limits: storeLimits, idleInTransactionMs: storeMs, commandsMax: commandConnections };
  const linked = config.HARRIER_S3_PUBLIC_ENDPOINT !== undefined;
  const backend = await openBackend({
    service: "artifact-store",
    config,
    log,
    schema: ownSchema,
    needs: linked ? needsForLinks : needs,
    database,
  });
  const { db, background } = backend;
  const storage = await openStorage(config.storage, log);
  await storage.prepare();
  const keepMs = config.HARRIER_ARTIFACT_KEEP_DAYS * 24 * 3_600_000;

  const now = Date.now;
  const catalogue = backend.client("harrier.management.v1.CatalogueService", config.HARRIER_MANAGEMENT_GRPC);
  const actions = backend.client("harrier.controller.v1.ActionsService", config.HARRIER_CONTROLLER_GRPC);
  const downloadBuffer = new DownloadBuffer({
    send: async (downloads, commandId) => {
      const call = { principal: servicePrincipal("artifact-store"), rid: randomUUID(), deadline: now() + recordDeadlineMs, commandId };
      await actions.noteDownloads({ downloads: [...downloads] }, call);
    },
    onDropped: (count, error) => log.warn({ err: error, count }, "download notes were dropped"),
    now,
  });

  const traffic = createTraffic({ pool: background.pool, now });
  const audit = await openAudit({ db, schema, key: config.HARRIER_AUDIT_KEY, onEnded: () => jobs.wake("audit-seal"), log });
  const janitor = createJanitor({ db: background, storage, keepMs, catalogue, fault: faultPoint, now, log });
  const nodeStatus = backend.nodeStatus(() => jobs.states());
  const jobs: Jobs<keyof typeof jobList> = backend.jobs(jobList, { audit, janitor, traffic, downloadBuffer, nodeStatus });
  backend.run(jobs.group("audit"));
  // tests take the counter from here, so that they need not wait for its next write
  backend.add({ ...jobs.group("downloads"), traffic });

  const beforeAnswer = () => faultPoint("artifact-store.rpc.before-answer");
  const rpc = backend.rpc({ beforeAnswer });
  rpc.add("harrier.artifactstore.v1.ArtifactsService", artifactsHandlers({ db: commandsOf(db), storage, keepMs, log }));
  const readiness = {
    quotas: async () => traffic.ready() || "the tenants' data volumes have not been read yet",
    storage: async () => {
      const warning = await storage.warning();
      return warning === undefined ? true : { warning };
    },
  };
  const http = backend.http({ readiness, audit: audit.trail });
  mountUpload(http.mount, { db, storage, keepMs, catalogue, fault: faultPoint, now, idleMs });
  mountResumable(http.mount, { db, storage, keepMs, catalogue, fault: faultPoint, now, idleMs });
  const linkSeconds = config.HARRIER_S3_LINK_SECONDS;
  mountDownloads(http.mount, { db, storage, linkSeconds, downloadBuffer, traffic, now, idleMs });

  await backend.whenReadable(() => void jobs.group("downloads").start());
  await backend.listen();
  backend.runUntilDrained(jobs.group());
  return backend.parts;
}
