import { HarrierError } from "@harrier/errors";
import type { Principal, Client as RpcClient } from "@harrier/rpc";
import { LRUCache } from "lru-cache";
import type { Client } from "../../client/client.ts";
import type { SignInFailures } from "../../limits/sign-in-failures.ts";
import { allowed } from "../allowed.ts";
import { nobody } from "../authenticate-device.ts";
import type { PrincipalCache } from "../principal-cache.ts";
import { idDigestOf, isSessionId, newSessionId, type SessionKind } from "./session-id.ts";
import type { SessionUses } from "./session-uses.ts";

export interface SessionRequest {
  client: Pick<Client, "address" | "hidden">;
  rid: string;
  traceparent?: string;
  deadline: number;
}

interface Deps extends Pick<RpcClient<"harrier.management.v1.IdentityService">, "openSession" | "resolveSession" | "closeSession"> {
  cache: PrincipalCache;
  failures: Pick<SignInFailures, "begin">;
  uses: Pick<SessionUses, "record">;
  now(): number;
}

/** What a session is beside its principal. */
interface Facts {
  readonly tenantId: number;
  readonly sessionId: number;
  readonly expiresAt: number;
  readonly idleMs: number;
  usedAt: number;
  recordedAt: number;
}

/** A user who has just signed in, by password or at an issuer. */
export interface NewSession {
  readonly kind: SessionKind;
  readonly tenantId: number;
  readonly subject: string;
  /** Absent: only the issuer knows the user. */
  readonly userId?: number | undefined;
  /** Of the password that was verified. */
  readonly generation?: number;
  readonly token?: { readonly issuer: string; readonly scopes: readonly string[]; readonly notAfter: number };
  readonly userAgent: string | undefined;
}

export interface SessionTimes {
  readonly expiresAt: number;
  readonly idleExpiresAt: number;
}

/** As many as principals are cached. */
const maxFacts = 10_000;
/** A use is told this often; management keeps it to the minute. */
const recordEveryMs = 60_000;

/**
 * Sessions of users (ADR 47). Management keeps them; a known one costs no call here, as with any other credential, and is forgotten when management
 * reports its end or a change of its user.
 */
export class Sessions {
  readonly #deps: Deps;
  readonly #facts = new LRUCache<string, Facts>({ max: maxFacts });

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Opens a session under a new id, whatever the client had before. Throws unauthenticated if its user has changed meanwhile. */
  async open(session: NewSession, { client, rid, traceparent, deadline }: SessionRequest): Promise<SessionTimes & { id: string }> {
    const id = newSessionId();
    const { kind, tenantId, subject, userId = 0, generation = 0, token, userAgent = "" } = session;
    const answer = await this.#deps.openSession(
      {
        idDigest: idDigestOf(id),
        ...{ kind, tenantId, subject, userId, generation, userAgent },
        issuer: token?.issuer ?? "",
        scopes: [...(token?.scopes ?? [])],
        notAfter: token?.notAfter ?? 0,
        lastIp: client.address,
      },
      { principal: nobody, rid, ...(traceparent && { traceparent }), deadline },
    );
    if (!answer.ok) throw new HarrierError("unauthenticated");
    return { id, expiresAt: answer.expiresAt, idleExpiresAt: answer.idleUntil };
  }

  /** Authenticates by the id of a session; rejects with unauthenticated if it is none, or is over. */
  authenticate(id: string, kind: SessionKind, request: SessionRequest): Principal | Promise<Principal> {
    if (!isSessionId(id)) throw new HarrierError("unauthenticated");
    const { cache, now } = this.#deps;
    const digest = digestOf(cache, id, kind);
    const facts = this.#facts.get(digest);
    const at = now();
    if (facts !== undefined && at < facts.expiresAt && at - facts.usedAt < facts.idleMs) {
      const principal = cache.lookup(digest);
      if (principal !== undefined) {
        this.#use(facts, at);
        return principal;
      }
    }
    // A page that begins with many requests at once has its session looked up once.
    return cache.share(digest, () => this.#resolve(digest, { id, kind }, request));
  }

  /** Returns when a session ends that has just been authenticated. */
  times(id: string, kind: SessionKind): SessionTimes | undefined {
    const facts = this.#facts.get(digestOf(this.#deps.cache, id, kind));
    return facts && { expiresAt: facts.expiresAt, idleExpiresAt: Math.min(facts.expiresAt, facts.usedAt + facts.idleMs) };
  }

  /** Ends a session here at once, and at the other gateways within a second. One that is over is no error. */
  async close(id: string, { rid, traceparent, deadline }: SessionRequest): Promise<void> {
    if (!isSessionId(id)) return;
    await this.#deps.closeSession({ idDigest: idDigestOf(id) }, { principal: nobody, rid, ...(traceparent && { traceparent }), deadline });
    for (const kind of ["browser", "cli"] as const) {
      const digest = digestOf(this.#deps.cache, id, kind);
      this.#facts.delete(digest);
      this.#deps.cache.drop(digest);
    }
  }

  async #resolve(digest: string, { id, kind }: { id: string; kind: SessionKind }, request: SessionRequest): Promise<Principal> {
    const { cache, failures, resolveSession, now } = this.#deps;
    const { address, hidden } = request.client;
    // Each id has attempts of its own: a tab that is open longer than its session takes none from its neighbours.
    const idDigest = idDigestOf(id);
    const outcome = failures.begin({ kind: "client", address, hidden, account: `session ${idDigest}`, credentials: [digest] });
    const generation = cache.generation;
    const { rid, traceparent, deadline } = request;
    const call = { principal: nobody, rid, ...(traceparent && { traceparent }), deadline };
    const answer = await resolveSession({ idDigest, kind }, call).catch((error: unknown) => {
      outcome.abandoned();
      throw error;
    });
    if (!answer.ok) {
      outcome.failed();
      this.#facts.delete(digest);
      throw new HarrierError("unauthenticated");
    }
    outcome.succeeded(digest);
    const { tenantId, tenant, subject, issuer, userId, sessionId, expiresAt, idleSeconds, revision } = answer;
    const principal: Principal = {
      ...{ tenantId, tenant, kind: "user", subject },
      ...(issuer !== "" && { external: true, issuer }),
      ...(userId > 0 && { userId }),
      sessionId,
      ...allowed(answer),
    };
    const at = now();
    const facts: Facts = { tenantId, sessionId, expiresAt, idleMs: idleSeconds * 1_000, usedAt: at, recordedAt: 0 };
    this.#facts.set(digest, facts);
    this.#use(facts, at);
    cache.keep(digest, { principal, userId, revision, generation });
    return principal;
  }

  #use(facts: Facts, at: number): void {
    facts.usedAt = at;
    if (at - facts.recordedAt < recordEveryMs) return;
    facts.recordedAt = at;
    this.#deps.uses.record({ tenantId: facts.tenantId, sessionId: facts.sessionId, at });
  }
}

const digestOf = (cache: PrincipalCache, id: string, kind: SessionKind): string => cache.digest(`session ${kind} ${id}`);
