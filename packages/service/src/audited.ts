import type { Route, Surface } from "@harrier/contracts";
import { type HarrierError, httpStatus } from "@harrier/errors";
import type { Reply } from "./answer.ts";
import { auditDetails } from "./audit-details.ts";
import type { Log } from "./log.ts";
import type { Context } from "./request-context.ts";

/** A call in the form of the audit trail; `AuditCall` of @harrier/audit. */
export interface AuditedCall {
  readonly tenantId: number;
  readonly actorKind: string;
  readonly actor: string;
  readonly action: string;
  readonly entity: string;
  readonly entityIds: readonly string[];
  readonly sourceIp: string;
  readonly requestId: string;
  readonly details: string;
}

export interface AuditedOutcome {
  readonly status: number;
  readonly errorCode?: string | undefined;
  readonly entityIds?: readonly string[] | undefined;
}

/** The audit trail of changing calls; `AuditTrail` of @harrier/audit. */
export interface CallAudit {
  /** Records a call before its work begins; the returned function adds the outcome. */
  begin(call: AuditedCall): Promise<(outcome: AuditedOutcome) => Promise<void>>;
  /** Records a call that was refused before its work began. */
  refused(call: AuditedCall, outcome: AuditedOutcome): Promise<void>;
}

const maxIds = 50;
const maxIdLength = 256;

/** Whether calls of a route are recorded: changing calls of the management interface are, because the reports of devices have their own history. */
export function isAudited(route: Route): boolean {
  return route.interface === "management" && route.method !== "GET" && route.onlyReads !== true;
}

/** Answers the kind of entity that a route changes: `target` of `targets.create`, `softwareModuleType` of `softwareModuleTypes.update`. */
export function auditEntity(route: Route): string {
  const feature = route.id.slice(0, route.id.indexOf("."));
  return feature.endsWith("s") ? feature.slice(0, -1) : feature;
}

/** Records one call of `serve`: its begin before the handler, its outcome before the answer, exactly one entry in every case. */
export class AuditedRequest<R extends Route> {
  readonly #audit: CallAudit;
  readonly #route: R;
  readonly #ctx: Context<R>;
  readonly #log: Log;
  #end: ((outcome: AuditedOutcome) => Promise<void>) | undefined;
  #done = false;

  constructor(audit: CallAudit, parts: { route: R; ctx: Context<R>; log: Log }) {
    this.#audit = audit;
    this.#route = parts.route;
    this.#ctx = parts.ctx;
    this.#log = parts.log;
  }

  /** Fails if the entry cannot be written, because nothing may change without an entry. */
  async begin(): Promise<void> {
    this.#end = await this.#audit.begin(this.#call());
  }

  async succeeded(status: number, reply: Reply | undefined): Promise<void> {
    const made = this.#route.method === "POST" ? idsIn(reply?.body) : [];
    const entityIds = made.length === 0 ? undefined : [...this.#pathIds(), ...made].slice(0, maxIds);
    await this.#finish({ status, entityIds });
  }

  async failed(failure: HarrierError, surface: Surface): Promise<void> {
    await this.#finish({ status: httpStatus(failure.code, surface), errorCode: failure.code });
  }

  /** Adds the outcome, but the answer does not wait for it forever: an entry without an outcome shows UNKNOWN after two minutes. */
  async #finish(outcome: AuditedOutcome): Promise<void> {
    if (this.#done || this.#ctx.identity === undefined) return;
    this.#done = true;
    try {
      await (this.#end === undefined ? this.#audit.refused(this.#call(), outcome) : this.#end(outcome));
    } catch (err) {
      this.#log.error({ err, route: this.#route.id, rid: this.#ctx.rid, ...outcome }, "the audit trail could not be told how a call ended");
    }
  }

  #call(): AuditedCall {
    const { identity, req, body, query } = this.#ctx;
    return {
      tenantId: identity.tenantId,
      actorKind: identity.kind.toUpperCase(),
      actor: plain(identity.subject),
      action: this.#route.id,
      entity: auditEntity(this.#route),
      entityIds: this.#pathIds(),
      // the gateway sets it and removes what clients claim
      sourceIp: plain(String(req.headers["x-forwarded-for"] ?? "")).slice(0, 64),
      requestId: identity.rid.slice(0, 64),
      details: auditDetails(this.#route, body === undefined ? query : body, query),
    };
  }

  /** Reads the ids from the path as it was sent, because the request may have been refused. */
  #pathIds(): string[] {
    const params = this.#ctx.req.params as Record<string, string>;
    return Object.values(params).map(plain);
  }
}

/** Answers the ids in an answer that is one object or a list; a target has its controllerId, an OAuth client its clientId. */
function idsIn(body: unknown): string[] {
  const items = Array.isArray(body) ? body : [body];
  return items.slice(0, maxIds).flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    const { controllerId, clientId, id } = item as { controllerId?: unknown; clientId?: unknown; id?: unknown };
    const found = controllerId ?? clientId ?? id;
    return typeof found === "string" || typeof found === "number" ? [plain(String(found))] : [];
  });
}

/** Makes a text that PostgreSQL can store and a terminal can show. */
function plain(text: string): string {
  return text
    .slice(0, maxIdLength)
    .replace(/\p{Cc}/gu, "?")
    .toWellFormed();
}
