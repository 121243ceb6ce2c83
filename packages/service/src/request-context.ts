import { type BodyOf, type ParamsOf, type QueryOf, type Route, type Surface, takesIfMatch } from "@harrier/contracts";
import { type OutCall, onBehalfHeader, type VerifiedIdentity } from "@harrier/rpc";
import type { TracedSpan } from "@harrier/tracing";
import type { Request, Response } from "express";
import { revisionsOf } from "./entity-tag.ts";
import type { Log } from "./log.ts";
import type { RequestLimiter } from "./tenant-limiter.ts";

/**
 * The gateway sets the milliseconds within which an answer is needed; it is absent for transfers. It is no time of day, because the clocks of two
 * hosts differ.
 */
export const budgetHeader = "x-harrier-budget";

/** A handler knows this of its request: parsed, checked and typed by the route. */
export interface RequestContext<R extends Route = Route> {
  readonly identity: VerifiedIdentity;
  /** The tenant comes from the identity, never from the path. */
  readonly tenantId: number;
  readonly tenant: string;
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly surface: Surface;
  /** The start of links: the public address, for the management interface with the base path of the request. */
  readonly base: string;
  /** The deadline in epoch ms; Infinity for transfers. */
  readonly deadline: number;
  readonly rid: string;
  readonly log: Log;
  readonly req: Request;
  readonly res: Response;
  /** The revisions that `If-Match` names, one of which the row must have; undefined without the header, and for routes that take none (ADR 40). */
  readonly ifMatch: readonly number[] | undefined;
  /** The round trips to the database so far. */
  readonly roundTrips: number;
  /** Answers what a gRPC call for this request carries: the principal and the gateway's delegation. */
  out(commandId?: string): OutCall;
}

interface ContextParts {
  readonly route: Pick<Route, "errors">;
  readonly req: Request;
  readonly res: Response;
  readonly surface: Surface;
  readonly basePath: string;
  readonly log: Log;
}

/** The context of a request is one object whose members are computed when needed, because a poll uses few of them. */
export class Context<R extends Route> implements RequestContext<R> {
  readonly req: Request;
  readonly res: Response;
  readonly surface: Surface;
  readonly deadline: number;
  identity!: VerifiedIdentity;
  params!: ParamsOf<R>;
  query!: QueryOf<R>;
  body!: BodyOf<R>;
  roundTrips = 0;
  /** While a handler of the management interface runs, its statements end with this signal (`RequestScope` of @harrier/db). */
  signal: AbortSignal | undefined;
  /** The span of this request, if it is traced; it ends with the answer. */
  span: TracedSpan | undefined;
  /** While an expensive handler runs, its statements wait for this limiter. */
  limiter: RequestLimiter | undefined;
  /** While the handler of a list runs, its statements may run on a standby. */
  readsOnly = false;
  readonly #route: Pick<Route, "errors">;
  readonly #basePath: string;
  readonly #log: Log;
  #requestLog: Log | undefined;

  constructor(parts: ContextParts) {
    this.req = parts.req;
    this.res = parts.res;
    this.surface = parts.surface;
    this.#route = parts.route;
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
  get ifMatch(): readonly number[] | undefined {
    return takesIfMatch(this.#route) ? revisionsOf(this.req.headers["if-match"]) : undefined;
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
    const delegations = this.req.headers[onBehalfHeader];
    if (typeof delegations === "string") call.onBehalf = { payload: identity.payload, delegations };
    return call;
  }
}
