export { type Acting, actingOf, callers, callPairs, mayCall } from "./callers.ts";
export { isCertificateOf, namesOf } from "./certificates.ts";
export { type ClientOptions, createClient } from "./client.ts";
export type * from "./gen/index.ts";
export {
  type Actor,
  clockDifferenceMs,
  digestOf,
  type Identity,
  identityHeader,
  identityLifeMs,
  type Principal,
  refused,
  servicePrincipal,
  signIdentity,
  unboundBody,
  type VerifiedIdentity,
  verifyIdentity,
} from "./identity.ts";
export { IdentityGate } from "./identity-gate.ts";
export { type HeadersOfIdentity, identityHeaders } from "./identity-headers.ts";
export { type KeySet, keyPairs, keyPairsOf, type Pair, parseKeys } from "./keys.ts";
export { loaderOptions } from "./loader-options.ts";
export { coveredInCall, keysOfMetadata } from "./metadata.ts";
export { type MethodKind, methodKind, methods } from "./methods.ts";
export { delegationFor, type OnBehalf, onBehalfHeader } from "./on-behalf.ts";
export { createRpcServer, type RpcServer, type RpcServerOptions, type Within } from "./server.ts";
export {
  hosts,
  type MethodName,
  type ProtoServiceName,
  type RequestInput,
  type RequestOf,
  type ResponseInput,
  type ResponseOf,
  type ServiceName,
  serviceNames,
} from "./services.ts";
export type {
  CallContext,
  CallReport,
  Client,
  Handlers,
  OutCall,
  RpcLog,
  RpcTls,
  Send,
  StreamHandler,
  UnaryHandler,
  Watch,
  WatchOptions,
  WatchState,
} from "./types.ts";
