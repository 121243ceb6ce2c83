import type { DatabaseService } from "@harrier/db";

/** The five processes, in the order in which they are started. */
export const serviceNames = ["management", "controller", "artifact-store", "rollout-engine", "gateway"] as const;
export type ServiceName = (typeof serviceNames)[number];
export type BackendName = Exclude<ServiceName, "gateway">;

export const isBackend = (service: ServiceName): service is BackendName & DatabaseService => service !== "gateway";

/** Whom each service calls by gRPC (architecture §2): these addresses and these audiences' keys it gets, and no others. */
export const calls: Readonly<Record<ServiceName, readonly BackendName[]>> = {
  gateway: ["controller", "management", "artifact-store", "rollout-engine"],
  management: ["controller", "management", "artifact-store", "rollout-engine"],
  "rollout-engine": ["controller", "management"],
  "artifact-store": ["controller", "management"],
  controller: [],
};

/** controller -> CONTROLLER, artifact-store -> ARTIFACT_STORE: the service's part of a setting's name. */
export const settingPart = (service: ServiceName): string => service.toUpperCase().replaceAll("-", "_");
