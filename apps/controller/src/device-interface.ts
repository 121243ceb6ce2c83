import type { Database, IdBlocks, SecretBox } from "@harrier/db";
import type { Log, Mount } from "@harrier/service";
import type { ArtifactLinkSettings } from "./artifacts/artifact-links.ts";
import { artifactRoutes } from "./artifacts/artifacts.routes.ts";
import { cancellationRoutes } from "./cancellation/cancellation.routes.ts";
import { configDataRoutes } from "./config-data/config-data.routes.ts";
import { confirmationRoutes } from "./confirmation/confirmation.routes.ts";
import { deploymentRoutes } from "./deployment/deployment.routes.ts";
import type { DeploymentDocuments } from "./deployment/documents.ts";
import type { LimitsOf } from "./domain/quotas.ts";
import { feedbackRoutes } from "./feedback/feedback.routes.ts";
import type { RecordReport } from "./feedback/record-report.ts";
import type { LastPolls } from "./poll/last-polls.ts";
import { pollRoutes } from "./poll/poll.routes.ts";
import type { PollReader } from "./poll/poll-reader.ts";
import type { RecordRetrieval } from "./retrieval/record-retrieval.ts";
import { runningVersionRoutes } from "./running-version/running-version.routes.ts";
import type { TenantSettingsCache } from "./settings/tenant-settings.ts";

export interface DeviceInterfaceDeps {
  db: Database;
  /** `createTenantSettings` of settings/tenant-settings.ts; a background job follows the changes. */
  settings: TenantSettingsCache;
  /** `createPollReader` of poll/poll-reader.ts. */
  readPoll: PollReader;
  /** `createReportRecorder` of feedback/record-report.ts. */
  recordReport: RecordReport;
  /** `createRetrievalRecorder` of retrieval/record-retrieval.ts. */
  recordRetrieval: RecordRetrieval;
  /** `createLastPolls` of poll/last-polls.ts; a background job writes them, at the end too. */
  lastPolls: LastPolls;
  log: Pick<Log, "info">;
  /** `createDeploymentDocuments` of deployment/documents.ts. */
  documents: DeploymentDocuments;
  /** `createArtifactLinks` of artifacts/artifact-links.ts. */
  links: ArtifactLinkSettings;
  ids: IdBlocks;
  /** The limits come from `settings`. */
  limits: LimitsOf;
  secrets: SecretBox;
  /** Returns epoch milliseconds. */
  now: () => number;
}

/** Mounts every route of the device interface that controller serves (spec 000 §4); downloads belong to artifact-store. */
export function mountDeviceInterface(mount: Mount, deps: DeviceInterfaceDeps): void {
  pollRoutes(mount, deps);
  deploymentRoutes(mount, deps);
  feedbackRoutes(mount, deps);
  cancellationRoutes(mount, deps);
  confirmationRoutes(mount, deps);
  configDataRoutes(mount, deps);
  runningVersionRoutes(mount, deps);
  artifactRoutes(mount, deps);
}
