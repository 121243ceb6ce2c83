import type { MethodName, ProtoServiceName } from "./services.ts";

/**
 * - `idempotent`: by its own key; repeated when the connection broke.
 * - `command`: carries a command id whose result the owner stores; refused without one, repeated with it.
 * - `once`: neither; repeated only where the caller gives a command id all the same.
 * - `stream`: the server sends until it is cancelled; reopened by `watch`.
 */
export type MethodKind = "idempotent" | "command" | "once" | "stream";

/** Every method of every proto service; what is not listed does not compile. */
export const methods = {
  "harrier.artifactstore.v1.ArtifactsService": {
    releaseArtifact: "idempotent",
    statBlob: "idempotent",
    eraseTenantArtifacts: "idempotent",
  },
  "harrier.controller.v1.ActionsService": {
    assignSet: "command",
    assignSets: "command",
    assignOffline: "command",
    cancelAction: "once",
    forceAction: "idempotent",
    confirmAction: "once",
    openFence: "idempotent",
    closeFence: "idempotent",
    scheduleChunk: "idempotent",
    startChunk: "idempotent",
    stopChunk: "idempotent",
    cancelSetChunk: "idempotent",
    noteDownloads: "command",
    autoAssignChunk: "idempotent",
    deleteActions: "once", // a repetition would answer that there is none
  },
  "harrier.controller.v1.DeviceIdentityService": {
    verifyDevice: "idempotent",
    watchCredentialChanges: "stream",
  },
  "harrier.controller.v1.TargetsService": {
    createTargets: "command",
    updateTarget: "idempotent",
    deleteTargets: "once", // a repetition would answer 0 deleted
    deleteTargetsById: "idempotent", // what matters is that they are gone
    readSecurityTokens: "idempotent",
    activateAutoConfirm: "once", // a repetition would answer that it is active already
    deactivateAutoConfirm: "idempotent",
    changeTag: "idempotent",
    changeGroup: "idempotent",
    eraseTenantTargets: "idempotent",
    importTargets: "idempotent", // by the id of the import
    addMetadata: "command",
    changeMetadata: "idempotent",
    removeMetadata: "once", // a repetition would answer that there is none
  },
  "harrier.management.v1.CatalogueService": {
    reserveSet: "idempotent",
    checkUpload: "idempotent",
    attachArtifact: "command",
  },
  "harrier.management.v1.IdentityService": {
    signIn: "idempotent",
    resolveToken: "idempotent",
    signInClient: "idempotent",
    readTokenKeys: "idempotent",
    watchPrincipalChanges: "stream",
    noteApiKeyUses: "idempotent",
    noteRefusals: "command",
  },
  "harrier.rolloutengine.v1.RolloutsService": {
    stopRolloutsOfSet: "idempotent",
    eraseTenantRollouts: "idempotent",
  },
} as const satisfies { [S in ProtoServiceName]: Record<MethodName<S>, MethodKind> };

/** Methods that change nothing: the identity of a call of theirs is not remembered. Streams neither. */
const reads: { readonly [S in ProtoServiceName]?: readonly string[] } = {
  "harrier.artifactstore.v1.ArtifactsService": ["statBlob"],
  "harrier.controller.v1.DeviceIdentityService": ["verifyDevice"],
  "harrier.controller.v1.TargetsService": ["readSecurityTokens"],
  "harrier.management.v1.CatalogueService": ["checkUpload"],
  "harrier.management.v1.IdentityService": ["signIn", "resolveToken", "signInClient", "readTokenKeys"],
};

/** True for a method whose identity is worth one call only. */
export function isChange(service: ProtoServiceName, method: string): boolean {
  return methodKind(service, method) !== "stream" && !reads[service]?.includes(method);
}

type Kinds<S extends ProtoServiceName> = (typeof methods)[S];

/** Names of the methods of a service that stream. */
export type StreamName<S extends ProtoServiceName> = {
  [M in MethodName<S>]: M extends keyof Kinds<S> ? (Kinds<S>[M] extends "stream" ? M : never) : never;
}[MethodName<S>];
export type UnaryName<S extends ProtoServiceName> = Exclude<MethodName<S>, StreamName<S>>;

/** Kind of a method, or undefined where the service has none of that name. */
export function methodKind(service: ProtoServiceName, method: string): MethodKind | undefined {
  return (methods[service] as Readonly<Record<string, MethodKind>>)[method];
}
