import { z } from "zod";
import { actionStatusNames } from "../codes.ts";
import { links } from "../link.ts";

/** The answer of a poll (spec 000 §2.2); `_links` is absent when there is nothing to do. */
export const pollView = z
  .object({
    config: z.object({ polling: z.object({ sleep: z.string().meta({ example: "00:05:00" }) }) }),
    _links: links("deploymentBase", "confirmationBase", "cancelAction", "installedBase", "configData").optional(),
  })
  .meta({ id: "Poll" });
export type PollView = z.output<typeof pollView>;

/** An artifact as a device sees it (spec 000 §2.4); `size` is in bytes. */
export const deviceArtifactView = z
  .object({
    filename: z.string(),
    hashes: z.object({ sha1: z.string(), md5: z.string(), sha256: z.string() }).meta({ id: "DeviceHashes" }),
    size: z.int(),
    _links: links("download", "md5sum", "download-http", "md5sum-http").optional(),
  })
  .meta({ id: "DeviceArtifact" });
export type DeviceArtifactView = z.output<typeof deviceArtifactView>;

const handling = z.enum(["skip", "attempt", "forced"]);

/** A software module of a deployment (spec 000 §2.4). */
export const chunkView = z
  .object({
    part: z.string(),
    version: z.string(),
    name: z.string(),
    encrypted: z.literal(true).optional(),
    artifacts: z.array(deviceArtifactView),
    metadata: z.array(z.object({ key: z.string(), value: z.string() })).optional(),
  })
  .meta({ id: "Chunk" });
export type ChunkView = z.output<typeof chunkView>;

/** The document says what is to be installed, and how urgently (spec 000 §2.4). */
export const deploymentDocument = z
  .object({
    download: handling,
    update: handling,
    maintenanceWindow: z.enum(["available", "unavailable"]).optional(),
    chunks: z.array(chunkView),
  })
  .meta({ id: "DeploymentDocument" });
export type DeploymentDocument = z.output<typeof deploymentDocument>;

const actionHistoryView = z.object({ status: z.enum(actionStatusNames), messages: z.array(z.string()) }).optional();

/** A deployment or installed action (spec 000 §2.4); the id is a text. */
export const deploymentView = z
  .object({ id: z.string(), deployment: deploymentDocument, actionHistory: actionHistoryView })
  .meta({ id: "Deployment" });
export type DeploymentView = z.output<typeof deploymentView>;

/** A deployment that waits for its confirmation; it is the same document under another name (contract device.md §4). */
export const confirmationView = z
  .object({ id: z.string(), confirmation: deploymentDocument, actionHistory: actionHistoryView })
  .meta({ id: "Confirmation" });
export type ConfirmationView = z.output<typeof confirmationView>;

/** How a target confirms (contract device.md §4.6); without auto-confirmation there is only `active`. */
export const confirmationBaseView = z
  .object({
    autoConfirm: z.object({
      active: z.boolean(),
      initiator: z.string().optional(),
      remark: z.string().optional(),
      activatedAt: z.int().optional(),
    }),
    _links: links("activateAutoConfirm", "deactivateAutoConfirm", "confirmationBase"),
  })
  .meta({ id: "ConfirmationBase" });
export type ConfirmationBaseView = z.output<typeof confirmationBaseView>;

/** A cancellation (spec 000 §2.3); both ids are the same text. */
export const cancelView = z.object({ id: z.string(), cancelAction: z.object({ stopId: z.string() }) }).meta({ id: "Cancellation" });
export type CancelView = z.output<typeof cancelView>;

/**
 * Answers the `part` of a chunk: two module types keep the names that devices have always read, every other key is used as it is (contract
 * device.md §4).
 */
export function chunkPart(moduleTypeKey: string): string {
  if (moduleTypeKey === "application") return "bApp";
  if (moduleTypeKey === "runtime") return "jvm";
  return moduleTypeKey;
}
