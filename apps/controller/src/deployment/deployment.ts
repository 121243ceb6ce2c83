import {
  actionStatusNames,
  type ChunkView,
  type ConfirmationView,
  type DeploymentDocument,
  type DeploymentView,
  forceType,
  isWindowOpen,
} from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import type { ArtifactLinkSettings, ArtifactLinks } from "../artifacts/artifact-links.ts";
import { artifactView } from "../artifacts/artifact-view.ts";
import type { Device } from "../device.ts";
import type { Resource } from "../domain/visibility.ts";
import { type RetrieveDeps, type Retrieved, retrieve } from "../retrieval/retrieve.ts";
import type { ChunkTemplate, DeploymentDocuments } from "./documents.ts";

export interface DeploymentDeps extends RetrieveDeps {
  documents: DeploymentDocuments;
  /** `createArtifactLinks` of artifacts/artifact-links.ts. */
  links: ArtifactLinkSettings;
  now: () => number;
}

export interface DeploymentRequest {
  device: Device;
  resource: "deployment" | "installed";
  actionId: number;
  /** The value of the query parameter `actionHistory`. */
  history: number;
}

/** Reads a deployment or the installed action for its device (spec 000 §2.4): one round trip once the set's document is known. */
export async function readDeployment(deps: DeploymentDeps, request: DeploymentRequest): Promise<DeploymentView> {
  const { id, document, ...history } = await read(deps, request);
  return { id, deployment: document, ...history };
}

/** Reads what a device is asked to confirm: the same document, before it may begin (contract device.md §4). */
export async function readConfirmation(deps: DeploymentDeps, request: Omit<DeploymentRequest, "resource">): Promise<ConfirmationView> {
  const { id, document, ...history } = await read(deps, { ...request, resource: "confirmation" });
  return { id, confirmation: document, ...history };
}

type Read = Pick<DeploymentView, "id" | "actionHistory"> & { document: DeploymentDocument };

async function read(deps: DeploymentDeps, request: Omit<DeploymentRequest, "resource"> & { resource: Resource }): Promise<Read> {
  const { device, actionId } = request;
  const action = await retrieve(deps, request);
  if (action.setRevision === null) throw entityNotFound("DistributionSet", action.setId);
  const chunks = await deps.documents.get({ tenantId: device.tenantId, setId: action.setId, revision: action.setRevision });
  const place = { device, links: deps.links.of(device.tenantId) };
  const view: Read = {
    id: String(actionId),
    document: { ...handlingOf(action, deps.now()), chunks: chunks.map((chunk) => chunkView(place, chunk)) },
  };
  if (action.messages !== null) {
    view.actionHistory = { status: actionStatusNames[action.status] ?? "RUNNING", messages: action.messages };
  }
  return view;
}

type Handling = Pick<DeploymentDocument, "download" | "update" | "maintenanceWindow">;

/** Says how urgently a device shall act; outside its maintenance window it only downloads (contract device.md §4.1, §3.5). */
export function handlingOf(action: Pick<Retrieved, "forceType" | "forceTimeMs" | "maintenance">, now: number): Handling {
  const handling = urgencyOf(action, now);
  if (action.maintenance === null) return handling;
  if (isWindowOpen(action.maintenance, now)) return { ...handling, maintenanceWindow: "available" };
  return { ...handling, update: "skip", maintenanceWindow: "unavailable" };
}

function urgencyOf(action: Pick<Retrieved, "forceType" | "forceTimeMs">, now: number): Handling {
  switch (action.forceType) {
    case forceType.forced:
      return { download: "forced", update: "forced" };
    case forceType.downloadonly:
      return { download: "forced", update: "skip" };
    case forceType.timeforced:
      return now >= (action.forceTimeMs ?? 0) ? { download: "forced", update: "forced" } : { download: "attempt", update: "attempt" };
    default:
      return { download: "attempt", update: "attempt" };
  }
}

function chunkView(at: { device: Device; links: ArtifactLinks }, chunk: ChunkTemplate): ChunkView {
  const { part, version, name, moduleId, metadata } = chunk;
  const place = { ...at, moduleId };
  const view: ChunkView = { part, version, name, artifacts: chunk.artifacts.map((artifact) => artifactView(place, artifact)) };
  if (metadata.length > 0) view.metadata = [...metadata];
  return view;
}
