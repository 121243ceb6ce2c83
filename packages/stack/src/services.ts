import type { DatabaseService } from "@harrier/db";

/** The processes, in the order in which they are started; dmf only where there is a message broker. */
export const serviceNames = ["management", "controller", "artifact-store", "rollout-engine", "gateway", "dmf"] as const;
export type ServiceName = (typeof serviceNames)[number];
export type BackendName = Exclude<ServiceName, "gateway" | "dmf">;

export const isBackend = (service: ServiceName): service is BackendName & DatabaseService => service !== "gateway" && service !== "dmf";

/** The calls of each service (architecture §2): it gets these addresses, and no others. */
export const calls: Readonly<Record<ServiceName, readonly BackendName[]>> = {
  gateway: ["controller", "management", "artifact-store", "rollout-engine"],
  management: ["controller", "management", "artifact-store", "rollout-engine"],
  "rollout-engine": ["controller", "management"],
  "artifact-store": ["controller", "management"],
  controller: [],
  dmf: ["controller"],
};

/** The caller and the audience, `gateway/controller`: each pair has a key of its own, which only these two get. */
export type Pair = `${ServiceName}/${BackendName}`;

export const keyPairs: readonly Pair[] = serviceNames.flatMap((caller) =>
  calls[caller].filter((audience) => audience !== caller).map((audience): Pair => `${caller}/${audience}`),
);

/** Answers the service's part of a setting's name: controller -> CONTROLLER, artifact-store -> ARTIFACT_STORE. */
export const settingPart = (service: ServiceName): string => service.toUpperCase().replaceAll("-", "_");
