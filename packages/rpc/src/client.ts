import { setTimeout as sleep } from "node:timers/promises";
import { Client as GrpcClient, Metadata, type MethodDefinition, type ServiceError } from "@grpc/grpc-js";
import { HarrierError } from "@harrier/errors";
import { tracer } from "@harrier/tracing";
import { CallLimiter, type CallLimits, unavailable } from "./call-limiter.ts";
import { mayConnect } from "./callers.ts";
import { channelOptions, clientCredentials, reconnectEveryMs, targetOf } from "./channel.ts";
import { Circuit, type CircuitOptions } from "./circuit.ts";
import { calleeState, fromServiceError, isSessionEnd } from "./error-transport.ts";
import {
  digestOf,
  type Identity,
  identityHeader,
  identityLifeMs,
  newNonce,
  type Principal,
  servicePrincipal,
  signIdentity,
} from "./identity.ts";
import type { KeySet } from "./keys.ts";
import { coveredInCall, identityMethod, keysOfMetadata } from "./metadata.ts";
import { isChange, type MethodKind, methodKind } from "./methods.ts";
import { delegationFor, onBehalfHeader } from "./on-behalf.ts";
import { loadService } from "./protos.ts";
import { hosts, type ProtoServiceName, type ServiceName } from "./services.ts";
import { spanOf } from "./span-of.ts";
import type { CallReport, Client, OutCall, RpcLog, RpcTls, Watch, WatchOptions, WatchState } from "./types.ts";
import { openWatch } from "./watch.ts";

export interface ClientOptions {
  /** The calling service, which must be in the caller table. */
  caller: ServiceName;
  /** The value is `127.0.0.1:1,127.0.0.1:2` (used round-robin) or one `name:port`. */
  addresses: string;
  keys: KeySet;
  tls?: RpcTls;
  log?: RpcLog;
  protosDir?: string;
  observe?: (report: CallReport) => void;
  /** How many calls may be in progress at a time; tests set it. */
  limiter?: CallLimits;
  /** When a callee counts as hanging; tests set it. */
  circuit?: CircuitOptions;
}

/** This is the deadline for a caller that has none of its own (a transfer, a background job). */
const defaultLifeMs = 30_000;
const maxRetries = 2;
const firstRetryDelayMs = 50;
/** A channel tries to connect twice in this time; a longer wait would not help, because a device waits five seconds. */
const maxWaitMs = 2.4 * reconnectEveryMs;
const silentAfterMs = 3_000;
const sessionEndQuietMs = 5_000;
const leastRemainingMs = 100;

interface Method {
  readonly name: string;
  readonly kind: MethodKind;
  readonly definition: MethodDefinition<object, object>;
  readonly circuit: Circuit;
}

interface Connection {
  readonly service: ProtoServiceName;
  readonly options: ClientOptions;
  readonly grpc: GrpcClient;
  readonly limiter: CallLimiter;
  /** Until this time (epoch ms) no further end of a session is logged, because it ends all calls at the same time. */
  quietUntil: number;
}

/** Builds the typed client of a proto service; throws if the caller table does not list the caller. */
export function createClient<S extends ProtoServiceName>(service: S, options: ClientOptions): Client<S> {
  if (!mayConnect(options.caller, service)) {
    throw new Error(`${options.caller} may not call ${service}; who may is listed in packages/rpc/src/callers.ts`);
  }
  const grpc = new GrpcClient(targetOf(options.addresses), clientCredentials(options.tls), channelOptions);
  const connection: Connection = { service, options, grpc, limiter: new CallLimiter(options.limiter), quietUntil: 0 };
  const watches = new Set<Watch>();
  const client: Record<string, unknown> = {
    ready: (timeoutMs: number) => waitForReady(grpc, timeoutMs),
    close: () => {
      for (const watch of watches) watch.stop();
      grpc.close();
    },
  };
  const streams = new Map<string, Method>();
  for (const [name, definition] of loadService(service, options.protosDir)) {
    const kind = methodKind(service, name);
    if (kind === undefined) throw new Error(`${service}.${name} is missing in packages/rpc/src/methods.ts`);
    const method: Method = { name, kind, definition, circuit: new Circuit(options.circuit) };
    if (kind === "stream") streams.set(name, method);
    else client[name] = (request: object, call: OutCall) => unary(connection, method, request, call);
  }
  client["watch"] = (
    name: string,
    request: object,
    watchOptions: WatchOptions,
    onMessage: (message: object) => void,
    onState: (state: WatchState) => void,
  ): Watch => {
    const method = streams.get(name);
    if (method === undefined) throw new Error(`${service}.${name} is not a stream`);
    const watch = startWatch(connection, method, request, watchOptions, { onMessage, onState });
    watches.add(watch);
    return watch;
  };
  return client as Client<S>;
}

/**
 * Makes one call with its retries, only within the deadline: idempotent calls if the connection failed, and any call if the callee refused the
 * identity. That is safe, because the callee checks the identity before anything else, and another replica may have the right clock and keys.
 */
async function unary(connection: Connection, method: Method, request: object, call: OutCall): Promise<object> {
  // the system clock is not used, because it may be set back meanwhile
  const began = performance.now();
  const deadline = Number.isFinite(call.deadline) ? call.deadline : Date.now() + defaultLifeMs;
  const repeatable = method.kind === "idempotent" || call.commandId !== undefined;
  const span = tracer?.begin(spanOf(method.definition.path, "client", call.traceparent));
  const traced = span === undefined ? call : { ...call, traceparent: span.traceparent };
  let outcome = "ok";
  try {
    for (let retries = 0; ; retries += 1) {
      try {
        return await once(connection, method, request, { ...traced, deadline, waitForReady: retries > 0 });
      } catch (error) {
        if (!(error instanceof HarrierError)) throw error;
        const refused = error.code === "identityRefused";
        if (!refused && error.code !== "unavailable") throw error;
        const delayMs = firstRetryDelayMs * 4 ** retries * (0.5 + Math.random() / 2);
        if (!(repeatable || refused) || retries === maxRetries || method.circuit.open || Date.now() + delayMs >= deadline) throw error;
        await sleep(delayMs);
        if (!(await connected(connection, Math.min(deadline, Date.now() + maxWaitMs)))) throw error;
      }
    }
  } catch (error) {
    outcome = error instanceof HarrierError ? error.code : "internal";
    throw error;
  } finally {
    span?.end(undefined, outcome === "ok" ? undefined : outcome);
    connection.options.observe?.({
      side: "client",
      service: connection.service,
      method: method.name,
      outcome,
      ms: performance.now() - began,
    });
  }
}

/** Waits briefly for a connection, because after the death of a replica a connection to another one may just be established. */
function connected(connection: Connection, until: number): Promise<boolean> {
  return new Promise((resolve) => connection.grpc.waitForReady(until, (error) => resolve(error === undefined)));
}

/** A repeated attempt waits for a connection that is being replaced, and does not fail at once. */
type Attempt = OutCall & { waitForReady: boolean };

/** Makes one attempt, if the circuit is not open and the limiter admits it. */
async function once(connection: Connection, method: Method, request: object, call: Attempt): Promise<object> {
  if (call.deadline <= Date.now()) throw new HarrierError("deadlineExceeded");
  const waiting = connection.limiter.enter(call.deadline);
  if (waiting !== undefined) await waiting;
  try {
    // the callee would refuse a call with less time than this
    if (waiting !== undefined && call.deadline - Date.now() < leastRemainingMs) throw new HarrierError("deadlineExceeded");
    if (!method.circuit.pass(Date.now())) throw unavailable(`${hosts[connection.service]} does not answer.`);
    return await send(connection, method, request, call);
  } finally {
    connection.limiter.leave();
  }
}

function send(connection: Connection, method: Method, request: object, call: Attempt): Promise<object> {
  const began = performance.now();
  const { path, requestSerialize, responseDeserialize } = method.definition;
  const message = requestSerialize(request);
  // each attempt needs new metadata, because the callee may have accepted the nonce of the one before
  const metadata = metadataOf(connection, method, message, call);
  metadata.setOptions({ waitForReady: call.waitForReady });
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, response?: object) => {
      learn(connection, method, error, performance.now() - began);
      if (error !== null) reject(fromServiceError(error));
      else resolve(response ?? {});
    };
    connection.grpc.makeUnaryRequest(path, asItIs, responseDeserialize, message, metadata, { deadline: call.deadline }, done);
  });
}

/** The message is serialized before the call, because the signature covers it. */
const asItIs = (message: Buffer): Buffer => message;

/** Records what the end of a call says about the callee. */
function learn(connection: Connection, method: Method, error: ServiceError | null, waitedMs: number): void {
  const { circuit } = method;
  const { log } = connection.options;
  const fields = { service: connection.service, method: method.name };
  const state = calleeState(error);
  if (state === "answered") {
    if (circuit.answered()) log?.info(fields, "the callee answers again");
    return;
  }
  const now = Date.now();
  if (state === "silent" && circuit.silent(now, waitedMs)) {
    log?.warn(fields, "the callee does not answer: calls are refused, but for a probe now and then");
  }
  if (error !== null && isSessionEnd(error) && now >= connection.quietUntil) {
    connection.quietUntil = now + sessionEndQuietMs;
    log?.warn({ ...fields, err: error }, "a connection ended under its calls");
  }
}

function metadataOf(connection: Connection, method: Method, message: Buffer, call: OutCall): Metadata {
  const { caller, keys } = connection.options;
  const audience = hosts[connection.service];
  const delegation = call.onBehalf === undefined || call.principal.kind === "service" ? undefined : delegationFor(audience, call.onBehalf);
  const identity: Identity = {
    ...(delegation === undefined ? call.principal : named(call.principal)),
    rid: call.rid,
    baseUrl: call.baseUrl ?? "",
    audience,
    method: identityMethod,
    path: method.definition.path,
    expiresAt: Date.now() + identityLifeMs,
    caller,
  };
  const metadata = new Metadata();
  if (call.traceparent !== undefined) {
    identity.traceparent = call.traceparent;
    metadata.set(keysOfMetadata.traceparent, call.traceparent);
  }
  if (isChange(connection.service, method.name)) identity.nonce = newNonce();
  const { commandId } = call;
  metadata.set(identityHeader, signIdentity(keys, identity, coveredInCall({ digest: digestOf(message), commandId, delegation })));
  if (delegation !== undefined) metadata.set(onBehalfHeader, delegation);
  if (commandId !== undefined) metadata.set(keysOfMetadata.commandId, commandId);
  return metadata;
}

/** Reduces a principal to its name, because its permissions are in the gateway's delegation. */
function named({ tenantId, tenant, kind, subject }: Principal): Principal {
  return { tenantId, tenant, kind, subject, permissions: [] };
}

interface WatchCallbacks {
  onMessage(message: object): void;
  onState(state: WatchState): void;
}

function startWatch(connection: Connection, method: Method, request: object, options: WatchOptions, on: WatchCallbacks): Watch {
  const { path, requestSerialize, responseDeserialize } = method.definition;
  const principal = options.principal ?? servicePrincipal(connection.options.caller);
  let attempt = 0;
  return openWatch<object>({
    open: () => {
      attempt += 1;
      const call: OutCall = { principal, rid: `watch-${connection.options.caller}-${attempt}`, deadline: Number.POSITIVE_INFINITY };
      const message = requestSerialize(request);
      const metadata = metadataOf(connection, method, message, call);
      return connection.grpc.makeServerStreamRequest(path, asItIs, responseDeserialize, message, metadata, {});
    },
    silentAfterMs: options.silentAfterMs ?? silentAfterMs,
    onMessage: on.onMessage,
    onState: on.onState,
    onError: (error) => connection.options.log?.debug({ err: error, method: path }, "stream broke"),
  });
}

function waitForReady(grpc: GrpcClient, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    grpc.waitForReady(Date.now() + timeoutMs, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(new HarrierError("unavailable", undefined, { cause: error }));
    });
  });
}
