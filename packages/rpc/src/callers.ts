import type { ProtoServiceName, ServiceName } from "./services.ts";

/**
 * Who may call what (architecture §2): the gRPC services form a graph without a cycle, and this table is that graph.
 * A service that is not listed can neither build a client nor pass the server's check.
 */
export const callers: Readonly<Record<ProtoServiceName, readonly ServiceName[]>> = {
  "harrier.artifactstore.v1.ArtifactsService": ["management"],
  "harrier.controller.v1.ActionsService": ["management", "rollout-engine"],
  "harrier.controller.v1.DeviceIdentityService": ["gateway"],
  "harrier.controller.v1.TargetsService": ["management", "rollout-engine"],
  "harrier.management.v1.CatalogueService": ["management", "rollout-engine", "artifact-store"],
  "harrier.management.v1.IdentityService": ["gateway"],
  "harrier.rolloutengine.v1.RolloutsService": ["management"],
};

/** Methods whose callers differ from those of their service. */
export const methodCallers: { readonly [S in ProtoServiceName]?: Readonly<Record<string, readonly ServiceName[]>> } = {
  "harrier.controller.v1.ActionsService": { noteDownloads: ["artifact-store"] },
  "harrier.controller.v1.TargetsService": { eraseTenantTargets: ["management"], deleteTargetsById: ["management"] },
};

/** True when `caller` may call this method. */
export function mayCall(caller: ServiceName, service: ProtoServiceName, method: string): boolean {
  const allowed = methodCallers[service]?.[method] ?? callers[service];
  return allowed.includes(caller);
}

/** True when `caller` may call at least one method of the service, that is, may have a client of it. */
export function mayConnect(caller: ServiceName, service: ProtoServiceName): boolean {
  if (callers[service].includes(caller)) return true;
  return Object.values(methodCallers[service] ?? {}).some((allowed) => allowed.includes(caller));
}
