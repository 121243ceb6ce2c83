import type { Principal } from "./identity.ts";
import type { StreamName, UnaryName } from "./methods.ts";
import type { OnBehalf } from "./on-behalf.ts";
import type { ProtoServiceName, RequestInput, RequestOf, ResponseInput, ResponseOf, ServiceName } from "./services.ts";

/** What every call takes along from the request that caused it. */
export interface OutCall {
  principal: Principal;
  rid: string;
  traceparent?: string;
  baseUrl?: string;
  /** Epoch ms; the callee gets what remains of it. */
  deadline: number;
  /** Makes a command repeatable: the owner stores its result under this id. */
  commandId?: string;
  /** The gateway's word; without it only a service's own principal is believed. */
  onBehalf?: OnBehalf;
}

/** What a handler knows of its call. */
export interface CallContext {
  readonly principal: Principal;
  readonly caller: ServiceName;
  readonly rid: string;
  readonly traceparent?: string;
  readonly baseUrl: string;
  /** Epoch ms, a little before the caller gives up; Infinity for streams. */
  readonly deadline: number;
  readonly commandId?: string;
  /** Aborts when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  remaining(): number;
}

export type UnaryHandler<Request, Response> = (request: Request, ctx: CallContext) => Promise<Response>;
/**
 * Sends one message after those before it; waits while the caller reads slower than we send. Never rejects. Who does not await it may let
 * messages wait, up to a number: beyond it the stream ends, and what waits at its end is not sent.
 */
export type Send<Message> = (message: Message) => Promise<void>;
/** Runs until `ctx.signal` aborts; returning earlier ends the stream. */
export type StreamHandler<Request, Message> = (request: Request, ctx: CallContext, send: Send<Message>) => Promise<void>;

/** Handlers of one proto service, all of them. */
export type Handlers<S extends ProtoServiceName> = {
  [M in UnaryName<S>]: UnaryHandler<RequestOf<S, M>, ResponseInput<S, M>>;
} & { [M in StreamName<S>]: StreamHandler<RequestOf<S, M>, ResponseInput<S, M>> };

/**
 * - `alive`: the first message of a stream has come (again).
 * - `interrupted`: the stream has ended and is being reopened; messages of the gap may be lost.
 * - `silent`: nothing has come for `silentAfterMs`, whatever the reason.
 */
export type WatchState = "alive" | "interrupted" | "silent";

export interface WatchOptions {
  /** Default: the calling service itself. */
  principal?: Principal;
  /** Default 3000 ms: three heartbeats. */
  silentAfterMs?: number;
}

export interface Watch {
  stop(): void;
}

/** Typed client of one proto service: one function per unary method, and `watch` for the streams. */
export type Client<S extends ProtoServiceName> = {
  [M in UnaryName<S>]: (request: RequestInput<S, M>, call: OutCall) => Promise<ResponseOf<S, M>>;
} & {
  /** Keeps a stream open until stopped, with back-off between attempts. */
  watch<M extends StreamName<S>>(
    method: M,
    request: RequestInput<S, M>,
    options: WatchOptions,
    onMessage: (message: ResponseOf<S, M>) => void,
    onState: (state: WatchState) => void,
  ): Watch;
  /** Resolves once a connection stands; for readiness. */
  ready(timeoutMs: number): Promise<void>;
  close(): void;
};

/** The part of a logger that this package uses. */
export interface RpcLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** One finished call, for metrics. */
export interface CallReport {
  readonly side: "client" | "server";
  readonly service: ProtoServiceName;
  readonly method: string;
  /** `ok` or an error code. */
  readonly outcome: string;
  readonly ms: number;
}

/** PEM texts; with them both sides prove who they are. */
export interface RpcTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}
