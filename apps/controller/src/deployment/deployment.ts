import { actionStatusNames, type ChunkView, type DeploymentView, forceType } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { artifactView } from "../artifacts/artifact-view.ts";
import type { Device } from "../device.ts";
import { type RetrieveDeps, type Retrieved, retrieve } from "../retrieval/retrieve.ts";
import type { ChunkTemplate, DeploymentDocuments } from "./documents.ts";

export interface DeploymentDeps extends RetrieveDeps {
  documents: DeploymentDocuments;
  now: () => number;
}

export interface DeploymentRequest {
  device: Device;
  resource: "deployment" | "installed";
  actionId: number;
  /** The query parameter `actionHistory`. */
  history: number;
}

/** A deployment or the installed action as its device reads it (spec 000 §2.4): one round trip once the set's document is known. */
export async function readDeployment(deps: DeploymentDeps, request: DeploymentRequest): Promise<DeploymentView> {
  const { device, actionId } = request;
  const action = await retrieve(deps, request);
  if (action.setRevision === null) throw entityNotFound("DistributionSet", action.setId);
  const chunks = await deps.documents.get({ tenantId: device.tenantId, setId: action.setId, revision: action.setRevision });
  const view: DeploymentView = {
    id: String(actionId),
    deployment: { ...handlingOf(action, deps.now()), chunks: chunks.map((chunk) => chunkView(device, chunk)) },
  };
  if (action.messages !== null) {
    view.actionHistory = { status: actionStatusNames[action.status] ?? "RUNNING", messages: action.messages };
  }
  return view;
}

type Handling = Pick<DeploymentView["deployment"], "download" | "update">;

/** How urgently a device shall act (contract device.md §4.1). */
export function handlingOf(action: Pick<Retrieved, "forceType" | "forceTimeMs">, now: number): Handling {
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

function chunkView(device: Device, chunk: ChunkTemplate): ChunkView {
  const { part, version, name, moduleId, metadata } = chunk;
  const view: ChunkView = { part, version, name, artifacts: chunk.artifacts.map((artifact) => artifactView(device, moduleId, artifact)) };
  if (metadata.length > 0) view.metadata = [...metadata];
  return view;
}
