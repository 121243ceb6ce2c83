import type { Principal } from "./identity.ts";
import type { StreamName, UnaryName } from "./methods.ts";
import type { OnBehalf } from "./on-behalf.ts";
import type { ProtoServiceName, RequestInput, RequestOf, ResponseInput, ResponseOf, ServiceName } from "./services.ts";

/** Every call carries this from the request that caused it. */
export interface OutCall {
  principal: Principal;
  rid: string;
  traceparent?: string;
  baseUrl?: string;
  /** The deadline in epoch ms; the callee gets what remains of it. */
  deadline: number;
  /** It makes a command repeatable: the owner stores the result under this id. */
  commandId?: string;
  /** The gateway's delegation; without it only the calling service itself is accepted as principal. */
  onBehalf?: OnBehalf;
}

/** A handler knows this of its call. */
export interface CallContext {
  readonly principal: Principal;
  readonly caller: ServiceName;
  readonly rid: string;
  readonly traceparent?: string;
  readonly baseUrl: string;
  /** The deadline in epoch ms, a little before the caller gives up; Infinity for streams. */
  readonly deadline: number;
  readonly commandId?: string;
  /** Aborts when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Answers the milliseconds until the deadline. */
  remaining(): number;
}

export type UnaryHandler<Request, Response> = (request: Request, ctx: CallContext) => Promise<Response>;
/**
 * Sends one message after those before it, and waits while the caller reads slower than we send. It never rejects. Without await, messages may
 * queue up to a maximum; beyond it the stream ends, and queued messages are not sent.
 */
export type Send<Message> = (message: Message) => Promise<void>;
/** Runs until `ctx.signal` aborts; returning earlier ends the stream. */
export type StreamHandler<Request, Message> = (request: Request, ctx: CallContext, send: Send<Message>) => Promise<void>;

/** All handlers of one proto service. */
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
  /** The default is the calling service itself. */
  principal?: Principal;
  /** The default is 3000 ms, which is three heartbeats. */
  silentAfterMs?: number;
}

export interface Watch {
  stop(): void;
}

/** The typed client of one proto service: one function per unary method, and `watch` for the streams. */
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
  /** Resolves once a connection is established; readiness uses it. */
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

/** The report of one finished call, for metrics. */
export interface CallReport {
  readonly side: "client" | "server";
  readonly service: ProtoServiceName;
  readonly method: string;
  /** It is `ok` or an error code. */
  readonly outcome: string;
  readonly ms: number;
}

/** The PEM texts; with them both sides prove who they are. */
export interface RpcTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}
