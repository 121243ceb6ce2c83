export { callers, mayCall, mayConnect, methodCallers } from "./callers.ts";
export { type ClientOptions, createClient } from "./client.ts";
export type * from "./gen/index.ts";
export {
  type Identity,
  identityHeader,
  identityLifeMs,
  identityPath,
  type Principal,
  servicePrincipal,
  signIdentity,
  verifyIdentity,
} from "./identity.ts";
export { type KeySet, parseKeys } from "./keys.ts";
export { loaderOptions } from "./loader-options.ts";
export { type MethodKind, methodKind, methods } from "./methods.ts";
export { defaultProtosDir } from "./protos.ts";
export { createRpcServer, type RpcServer, type RpcServerOptions } from "./server.ts";
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
