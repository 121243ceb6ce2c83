import type { MethodName, ProtoServiceName } from "./services.ts";

/**
 * How often a call may be made:
 * - `idempotent`: it has a key of its own, and is repeated when the connection broke.
 * - `command`: it carries a command id, and the owner stores the result; it is refused without one, and repeated with it.
 * - `once`: it has neither, and is repeated only if the caller gives a command id all the same.
 * - `stream`: the server sends until it is cancelled; `watch` reopens it.
 */
export type MethodKind = "idempotent" | "command" | "once" | "stream";

/** Every method of every proto service; a missing one does not compile. */
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
    proveAction: "once",
    retryAction: "once",
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
  "harrier.controller.v1.DeviceMessagesService": {
    listMessagingTenants: "idempotent",
    findThings: "idempotent",
    registerThing: "idempotent",
    removeThing: "once", // a repetition would answer that there is none
    updateThingAttributes: "idempotent",
    reportActionStatus: "once", // dmf itself knows what a repeated message may be answered
    switchThingAutoConfirm: "idempotent",
    readDeviceMessages: "idempotent",
    // a repetition would count twice
    recordRefusals: "once",
    noteProcess: "idempotent",
  },
  "harrier.controller.v1.TargetsService": {
    createTargets: "command",
    updateTarget: "idempotent",
    deleteTargets: "once", // a repetition would answer 0 deleted
    changeTargetsById: "idempotent",
    deleteTargetsById: "idempotent", // it only matters that they are gone
    readSecurityTokens: "idempotent",
    activateAutoConfirm: "once", // a repetition would answer that it is active already
    deactivateAutoConfirm: "idempotent",
    changeTag: "idempotent",
    changeGroup: "idempotent",
    eraseTenantTargets: "idempotent",
    importTargets: "idempotent", // it is repeatable by the id of the import
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
    openSession: "idempotent",
    resolveSession: "idempotent",
    closeSession: "idempotent",
    noteSessionUses: "idempotent",
    watchPrincipalChanges: "stream",
    noteApiKeyUses: "idempotent",
    noteNode: "idempotent",
    noteRefusals: "command",
  },
  "harrier.rolloutengine.v1.RolloutsService": {
    stopRolloutsOfSet: "idempotent",
    eraseTenantRollouts: "idempotent",
  },
} as const satisfies { [S in ProtoServiceName]: Record<MethodName<S>, MethodKind> };

/** These methods change nothing, so the identity of their calls is not remembered; streams are not remembered either. */
const reads: { readonly [S in ProtoServiceName]?: readonly string[] } = {
  "harrier.artifactstore.v1.ArtifactsService": ["statBlob"],
  "harrier.controller.v1.DeviceIdentityService": ["verifyDevice"],
  "harrier.controller.v1.DeviceMessagesService": ["listMessagingTenants", "findThings"],
  "harrier.controller.v1.TargetsService": ["readSecurityTokens"],
  "harrier.management.v1.CatalogueService": ["checkUpload"],
  "harrier.management.v1.IdentityService": ["signIn", "resolveToken", "signInClient", "readTokenKeys"],
};

/** Whether the identity of a call to this method is valid only once. */
export function isChange(service: ProtoServiceName, method: string): boolean {
  return methodKind(service, method) !== "stream" && !reads[service]?.includes(method);
}

type Kinds<S extends ProtoServiceName> = (typeof methods)[S];

/** The names of the methods of a service that stream. */
export type StreamName<S extends ProtoServiceName> = {
  [M in MethodName<S>]: M extends keyof Kinds<S> ? (Kinds<S>[M] extends "stream" ? M : never) : never;
}[MethodName<S>];
export type UnaryName<S extends ProtoServiceName> = Exclude<MethodName<S>, StreamName<S>>;

/** Answers the kind of a method; undefined if the service has no such method. */
export function methodKind(service: ProtoServiceName, method: string): MethodKind | undefined {
  return (methods[service] as Readonly<Record<string, MethodKind>>)[method];
}
