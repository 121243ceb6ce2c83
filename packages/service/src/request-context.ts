import type { BodyOf, ParamsOf, QueryOf, Route, Surface } from "@harrier/contracts";
import { type OutCall, onBehalfHeader, type VerifiedIdentity } from "@harrier/rpc";
import type { Request, Response } from "express";
import type { Log } from "./log.ts";
import type { TenantTurns } from "./tenant-limiter.ts";

/** Milliseconds within which an answer is wanted; set by the gateway, absent for transfers. Not a time: clocks of two hosts differ. */
export const budgetHeader = "x-harrier-budget";

/** What a handler knows of its request: parsed, checked and typed by the route. */
export interface RequestContext<R extends Route = Route> {
  readonly identity: VerifiedIdentity;
  /** From the identity, never from the path. */
  readonly tenantId: number;
  readonly tenant: string;
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly surface: Surface;
  /** Start of links: public address, for the management interface with the base path the request came in on. */
  readonly base: string;
  /** Epoch ms; Infinity for transfers. */
  readonly deadline: number;
  readonly rid: string;
  readonly log: Log;
  readonly req: Request;
  readonly res: Response;
  /** Round trips to the database so far. */
  readonly trips: number;
  /** What a gRPC call made for this request takes along: who asks, and the gateway's word for it. */
  out(commandId?: string): OutCall;
}

interface ContextParts {
  readonly req: Request;
  readonly res: Response;
  readonly surface: Surface;
  readonly basePath: string;
  readonly log: Log;
}

/** One object per request with everything lazy on its prototype: the poll uses little of it. */
export class Context<R extends Route> implements RequestContext<R> {
  readonly req: Request;
  readonly res: Response;
  readonly surface: Surface;
  readonly deadline: number;
  identity!: VerifiedIdentity;
  params!: ParamsOf<R>;
  query!: QueryOf<R>;
  body!: BodyOf<R>;
  trips = 0;
  /** While a handler of the management interface runs: what its statements end with (`RequestScope` of @harrier/db). */
  signal: AbortSignal | undefined;
  /** While an expensive handler runs: what its statements wait for. */
  turns: TenantTurns | undefined;
  readonly #basePath: string;
  readonly #log: Log;
  #requestLog: Log | undefined;

  constructor(parts: ContextParts) {
    this.req = parts.req;
    this.res = parts.res;
    this.surface = parts.surface;
    this.#basePath = parts.basePath;
    this.#log = parts.log;
    const budget = parts.req.headers[budgetHeader];
    this.deadline = budget === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(budget);
  }

  get tenantId(): number {
    return this.identity.tenantId;
  }
  get tenant(): string {
    return this.identity.tenant;
  }
  get rid(): string {
    return this.identity.rid;
  }
  get base(): string {
    return this.identity.baseUrl + this.#basePath;
  }
  get log(): Log {
    this.#requestLog ??= this.#log.child({ rid: this.rid, tenant: this.tenant });
    return this.#requestLog;
  }
  out(commandId?: string): OutCall {
    const { identity, deadline } = this;
    const call: OutCall = { principal: identity, rid: identity.rid, baseUrl: identity.baseUrl, deadline };
    if (identity.traceparent !== undefined) call.traceparent = identity.traceparent;
    if (commandId !== undefined) call.commandId = commandId;
    const words = this.req.headers[onBehalfHeader];
    if (typeof words === "string") call.onBehalf = { payload: identity.payload, words };
    return call;
  }
}
