import { once } from "node:events";
import {
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type StatusObject,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { HarrierError, toHarrierError } from "@harrier/errors";
import { type TracedSpan, tracer } from "@harrier/tracing";
import { HealthImplementation } from "grpc-health-check";
import { serverCredentials, serverOptions } from "./channel.ts";
import { toStatus } from "./error-transport.ts";
import type { Principal } from "./identity.ts";
import { IdentityGate } from "./identity-gate.ts";
import type { KeySet } from "./keys.ts";
import { methodKind } from "./methods.ts";
import { loadService } from "./protos.ts";
import { type AnyServerCall, beginCall, type CallContextImpl, type Edge, type ServedMethod } from "./server-call.ts";
import { hosts, type ProtoServiceName, type ServiceName } from "./services.ts";
import { spanOf } from "./span-of.ts";
import type { CallReport, Handlers, RpcLog, RpcTls, Send, StreamHandler, UnaryHandler } from "./types.ts";

/** `principal` is in whose name the call is; it has the kind `service` if it is the caller's own. */
export type Within = <T>(signal: AbortSignal, work: () => Promise<T>, principal: Principal) => Promise<T>;

export interface RpcServerOptions {
  service: ServiceName;
  host: string;
  /** With 0 a free port is taken; `start` answers it. */
  port: number;
  keys: KeySet;
  log: RpcLog;
  tls?: RpcTls;
  protosDir?: string;
  observe?: (report: CallReport) => void;
  /** Runs the handler of every call that is no stream, so that what it begins can end with `signal`: `untilAborted` of @harrier/db. */
  within?: Within;
  /** Runs between a handler's end and its answer; fault points use it. */
  beforeAnswer?: (method: string) => void | Promise<void>;
}

/** So many messages of one stream may wait for a slow caller; it is also the maximum of changes in one message to a quick one. */
const maxWaiting = 50_000;

/**
 * A call that is refused for one of these is no warning. The gate logs refused identities once, not for every call; the others say that this process has
 * more to do than it can: their callers try again or say so, metrics count them, and a line for each would add to the load.
 */
const quietRefusals: ReadonlySet<string> = new Set(["identityRefused", "deadlineExceeded", "unavailable"]);

/** The gRPC side of a service: its proto services, health, and the checks of every call. */
export class RpcServer {
  readonly #options: RpcServerOptions;
  readonly #grpc = new Server(serverOptions);
  readonly #health = new HealthImplementation({ "": "NOT_SERVING" });
  readonly #names: ProtoServiceName[] = [];
  readonly #streams = new Set<CallContextImpl>();
  readonly #edge: Edge;
  /** The bytes of the requests in progress are kept, because the signature covers them and not the parsed message. */
  readonly #bytes = new WeakMap<object, Buffer>();

  constructor(options: RpcServerOptions) {
    this.#options = options;
    const { service: audience, keys, log } = options;
    const bytesOf = (request: object) => this.#bytes.get(request) ?? Buffer.alloc(0);
    this.#edge = { audience, keys, gate: new IdentityGate({ audience, keys, log }), bytesOf };
    this.#health.addToServer(this.#grpc);
  }

  /** Adds one proto service; throws if it belongs to another process. */
  add<S extends ProtoServiceName>(service: S, handlers: Handlers<S>): this {
    if (hosts[service] !== this.#options.service)
      throw new Error(`${service} is served by ${hosts[service]}, not by ${this.#options.service}`);
    const definition: Record<string, ServiceDefinition[string]> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const [name, method] of loadService(service, this.#options.protosDir)) {
      const kind = methodKind(service, name);
      const handler = (handlers as Record<string, unknown>)[name];
      if (kind === undefined || typeof handler !== "function") throw new Error(`${service}.${name} has no handler`);
      const served: ServedMethod = { service, name, path: method.path, kind };
      definition[name] = { ...method, requestDeserialize: (bytes: Buffer) => this.#keep(bytes, method.requestDeserialize(bytes)) };
      implementation[name] =
        kind === "stream"
          ? (call: ServerWritableStream<object, object>) => void this.#stream(call, served, handler as StreamHandler<object, object>)
          : (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) =>
              void this.#unary(call, callback, served, handler as UnaryHandler<object, object>);
    }
    this.#grpc.addService(definition, implementation);
    this.#names.push(service);
    return this;
  }

  /** Listens; resolves to the port. */
  start(): Promise<number> {
    const { host, port, tls } = this.#options;
    const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    return new Promise((resolve, reject) => {
      this.#grpc.bindAsync(address, serverCredentials(tls), (error, bound) => {
        if (error !== null) return reject(error);
        for (const name of ["", ...this.#names]) this.#health.setStatus(name, "SERVING");
        resolve(bound);
      });
    });
  }

  /** Refuses new calls, ends the streams, lets running calls finish for `graceMs`, then aborts them. */
  async stop(graceMs = 2_000): Promise<void> {
    for (const name of ["", ...this.#names]) this.#health.setStatus(name, "NOT_SERVING");
    const drained = new Promise<void>((resolve) => this.#grpc.tryShutdown(() => resolve()));
    for (const stream of this.#streams) stream.abort.abort();
    const cut = setTimeout(() => this.#grpc.forceShutdown(), graceMs);
    await drained;
    clearTimeout(cut);
  }

  async #unary(
    call: ServerUnaryCall<object, object>,
    callback: sendUnaryData<object>,
    method: ServedMethod,
    handler: UnaryHandler<object, object>,
  ): Promise<void> {
    const began = performance.now();
    let ctx: CallContextImpl | undefined;
    let span: TracedSpan | undefined;
    try {
      const begun = this.#begin(call, method);
      ctx = begun;
      span = tracer?.begin(spanOf(method.path, "server", begun.traceparent));
      const handle = () => handler(call.request, begun);
      const { within } = this.#options;
      const work = () => (within === undefined ? handle() : within(begun.signal, handle, begun.principal));
      const response = await (span === undefined ? work() : begun.within(span, work));
      await this.#options.beforeAnswer?.(method.name);
      begun.answered = true;
      callback(null, response);
      this.#report(method, "ok", began);
      span?.end({ "harrier.request_id": begun.rid });
    } catch (thrown) {
      callback(this.#fail(thrown, method, ctx, began));
      span?.end({ "harrier.request_id": ctx?.rid ?? "" }, toHarrierError(thrown).code);
    }
  }

  async #stream(call: ServerWritableStream<object, object>, method: ServedMethod, handler: StreamHandler<object, object>): Promise<void> {
    const began = performance.now();
    let ctx: CallContextImpl | undefined;
    try {
      ctx = this.#begin(call, method);
      this.#streams.add(ctx);
      await handler(call.request, ctx, sender(call, ctx.abort));
      call.end();
      this.#report(method, "ok", began);
    } catch (thrown) {
      // an error after the caller has gone is no failure of ours
      if (ctx?.signal.aborted) call.end();
      else call.emit("error", this.#fail(thrown, method, ctx, began));
    } finally {
      ctx?.abort.abort();
      if (ctx !== undefined) this.#streams.delete(ctx);
    }
  }

  #keep(bytes: Buffer, request: object): object {
    this.#bytes.set(request, bytes);
    return request;
  }

  #begin(call: AnyServerCall, method: ServedMethod): CallContextImpl {
    const ctx = beginCall(call, method, this.#edge);
    // the event also comes when the call has been answered and its stream is closed, and then nothing must abort
    call.on("cancelled", () => ctx.answered || ctx.abort.abort());
    return ctx;
  }

  #fail(thrown: unknown, method: ServedMethod, ctx: CallContextImpl | undefined, began: number): StatusObject {
    const error = toHarrierError(thrown);
    this.#report(method, error.code, began);
    const fields = { err: error.cause ?? error, rid: ctx?.rid, method: method.path, code: error.code };
    if (error.code === "internal") this.#options.log.error(fields, "call failed");
    else if (ctx === undefined && !quietRefusals.has(error.code)) this.#options.log.warn(fields, "call refused");
    else this.#options.log.debug(fields, "call answered with an error");
    // on the wire this code says that nothing was begun and that the call may be repeated, but here a further service refused
    if (ctx !== undefined && error.code === "identityRefused")
      return toStatus(new HarrierError("unavailable", undefined, { cause: error }));
    return toStatus(error, { refused: ctx === undefined });
  }

  #report(method: ServedMethod, outcome: string, began: number): void {
    this.#options.observe?.({ side: "server", service: method.service, method: method.name, outcome, ms: performance.now() - began });
  }
}

/** Sends one message at a time, in order: each waits for the one before it. */
function sender(call: ServerWritableStream<object, object>, abort: AbortController): Send<object> {
  const { signal } = abort;
  let waiting = 0;
  let last = Promise.resolve();
  const write = async (message: object) => {
    waiting -= 1;
    if (signal.aborted || call.write(message)) return;
    await once(call, "drain", { signal }).catch(() => undefined);
  };
  return (message) => {
    if (waiting === maxWaiting) abort.abort();
    if (signal.aborted) return Promise.resolve();
    waiting += 1;
    last = last.then(() => write(message));
    return last;
  };
}

/** Makes a server that needs its services (`add`) before it listens (`start`). */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  return new RpcServer(options);
}
