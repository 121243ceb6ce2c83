import { hosts, type MethodName, type ProtoServiceName, type ServiceName } from "./services.ts";

/**
 * On whose behalf a caller may call a method:
 * - `itself`: work without a request of a principal (rollouts, relays, durable operations, calls of the gateway during authentication).
 * - `person`: only with the gateway's delegation for the principal of the request; the permissions then come from the gateway, not from the caller.
 * - `either`: both, for work that begins for a principal and that a worker may end later.
 */
export type Acting = "itself" | "person" | "either";

type MethodCallers = { readonly [C in ServiceName]?: Acting };

/**
 * Who may call what, and in whose name (architecture §2). The gRPC services form a graph without a cycle, and this table is that graph. A service
 * that is not listed can neither build a client nor pass the server's check; the key of the MAC proves which service it is.
 */
export const callers: { readonly [S in ProtoServiceName]: Readonly<Record<MethodName<S>, MethodCallers>> } = {
  "harrier.artifactstore.v1.ArtifactsService": {
    releaseArtifact: { management: "itself" },
    statBlob: { management: "itself" },
    eraseTenantArtifacts: { management: "itself" },
  },
  "harrier.controller.v1.ActionsService": {
    assignSet: { management: "either" },
    assignSets: { management: "person" },
    assignOffline: { management: "person" },
    cancelAction: { management: "person" },
    forceAction: { management: "person" },
    confirmAction: { management: "person" },
    proveAction: { management: "person" },
    retryAction: { management: "person" },
    deleteActions: { management: "person" },
    cancelSetChunk: { management: "itself" },
    openFence: { "rollout-engine": "itself" },
    closeFence: { "rollout-engine": "itself" },
    scheduleChunk: { "rollout-engine": "itself" },
    startChunk: { "rollout-engine": "itself" },
    stopChunk: { "rollout-engine": "itself" },
    autoAssignChunk: { "rollout-engine": "itself" },
    noteDownloads: { "artifact-store": "itself" },
  },
  "harrier.controller.v1.DeviceIdentityService": {
    verifyDevice: { gateway: "itself" },
    watchCredentialChanges: { gateway: "itself" },
  },
  "harrier.controller.v1.DeviceMessagesService": {
    listMessagingTenants: { dmf: "itself" },
    findThings: { dmf: "itself" },
    registerThing: { dmf: "itself" },
    removeThing: { dmf: "itself" },
    updateThingAttributes: { dmf: "itself" },
    reportActionStatus: { dmf: "itself" },
    switchThingAutoConfirm: { dmf: "itself" },
    readDeviceMessages: { dmf: "itself" },
    recordRefusals: { dmf: "itself" },
    noteProcess: { dmf: "itself" },
  },
  "harrier.controller.v1.TargetsService": {
    createTargets: { management: "person" },
    updateTarget: { management: "person" },
    deleteTargets: { management: "person" },
    changeTargetsById: { management: "itself" },
    deleteTargetsById: { management: "either" },
    readSecurityTokens: { management: "person", "rollout-engine": "person" },
    activateAutoConfirm: { management: "person" },
    deactivateAutoConfirm: { management: "person" },
    changeTag: { management: "person" },
    changeGroup: { management: "person" },
    eraseTenantTargets: { management: "itself" },
    importTargets: { management: "person" },
    addMetadata: { management: "person" },
    changeMetadata: { management: "person" },
    removeMetadata: { management: "person" },
  },
  "harrier.management.v1.CatalogueService": {
    reserveSet: { "rollout-engine": "either" },
    checkUpload: { "artifact-store": "person" },
    attachArtifact: { "artifact-store": "either" },
  },
  "harrier.management.v1.IdentityService": {
    signIn: { gateway: "itself" },
    resolveToken: { gateway: "itself" },
    signInClient: { gateway: "itself" },
    readTokenKeys: { gateway: "itself" },
    openSession: { gateway: "itself" },
    resolveSession: { gateway: "itself" },
    closeSession: { gateway: "itself" },
    noteSessionUses: { gateway: "itself" },
    watchPrincipalChanges: { gateway: "itself" },
    noteApiKeyUses: { gateway: "itself" },
    noteNode: { gateway: "itself" },
    noteRefusals: { gateway: "itself" },
  },
  "harrier.rolloutengine.v1.RolloutsService": {
    stopRolloutsOfSet: { management: "itself" },
    eraseTenantRollouts: { management: "itself" },
  },
};

/** Answers in whose name `caller` may call this method; undefined if it may not call it at all. */
export function actingOf(caller: ServiceName, service: ProtoServiceName, method: string): Acting | undefined {
  return (callers[service] as Readonly<Record<string, MethodCallers>>)[method]?.[caller];
}

/** Whether `caller` may call this method in anybody's name. */
export function mayCall(caller: ServiceName, service: ProtoServiceName, method: string): boolean {
  return actingOf(caller, service, method) !== undefined;
}

/** Whether `caller` may call at least one method of the service, and so may have a client of it. */
export function mayConnect(caller: ServiceName, service: ProtoServiceName): boolean {
  return Object.values<MethodCallers>(callers[service]).some((allowed) => allowed[caller] !== undefined);
}

/** Answers every caller/audience of the table, once. */
export function callPairs(): `${ServiceName}/${ServiceName}`[] {
  return [...new Set(entries().map(({ caller, audience }): `${ServiceName}/${ServiceName}` => `${caller}/${audience}`))];
}

/** Answers the services that `caller` calls on behalf of principals: each call needs the gateway's delegation. */
export function onwardAudiences(caller: ServiceName): readonly ServiceName[] {
  return [...new Set(entries().flatMap((entry) => (entry.caller === caller && entry.acting !== "itself" ? [entry.audience] : [])))];
}

function entries(): { caller: ServiceName; audience: ServiceName; acting: Acting }[] {
  return (Object.keys(callers) as ProtoServiceName[]).flatMap((service) =>
    Object.values<MethodCallers>(callers[service]).flatMap((allowed) =>
      Object.entries(allowed).map(([caller, acting]) => ({ caller: caller as ServiceName, audience: hosts[service], acting })),
    ),
  );
}
