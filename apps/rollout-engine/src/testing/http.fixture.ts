import { randomBytes } from "node:crypto";
import { countRoundTrips, createDatabase, type Database, IdBlocks } from "@harrier/db";
import { type Identity, identityHeaders, parseKeys } from "@harrier/rpc";
import { createHttp, createLog, createMetrics } from "@harrier/service";
import { type RoundTripCounter, startRoundTripCounter } from "@harrier/testkit";
import { mountAll } from "../mount-all.ts";
import { createFixture, type Fixture } from "./database.fixture.ts";

export type Json = Record<string, unknown>;

export interface CallOptions {
  body?: unknown;
  permissions?: readonly string[];
  base?: string;
}

/** Serves the HTTP side of the engine over real PostgreSQL, with a test double of controller's security tokens. */
export interface HttpFixture {
  readonly fixture: Fixture;
  /** The connections of the service, whose round trips are counted. */
  readonly db: Database;
  readonly counter: RoundTripCounter;
  /** Calls through a socket with a signed identity. */
  call(method: string, path: string, options?: CallOptions): Promise<{ status: number; text: string; body: Json }>;
  close(): Promise<void>;
}

const service = "rollout-engine";
export const everything = ["READ", "CREATE", "UPDATE", "DELETE", "HANDLE"].map((verb) => `${verb}_ROLLOUT`).concat("READ_TARGET");
export const baseUrl = "https://updates.example";

export async function createHttpFixture(): Promise<HttpFixture> {
  const fixture = await createFixture();
  const counter = await startRoundTripCounter(fixture.database.adminUrl);
  const db = createDatabase({ url: counter.through(fixture.database.urlOf(service)), applicationName: "test" });
  const keys = parseKeys(`gateway/rollout-engine=k1:${randomBytes(32).toString("base64")}`);
  const log = createLog({ service, level: "silent" });
  const http = createHttp({ service, keys, log, metrics: createMetrics({ service }), countRoundTrips });
  const deps = { ...fixture.create, db, ids: new IdBlocks(db.pool), wake: () => {}, fault: () => {} };
  const targets = {
    readSecurityTokens: async ({ controllerIds = [] }: { controllerIds?: string[] }) => ({
      tokens: Object.fromEntries(controllerIds.map((id) => [id, `token of ${id}`])),
    }),
  };
  mountAll(http.mount, { rollouts: deps, groups: { db, targets, now: Date.now }, filters: deps });
  const port = await http.listen("127.0.0.1", 0);

  const call: HttpFixture["call"] = async (method, path, { body, permissions = everything, base = "/rest/v1" } = {}) => {
    const url = `${base}${path}`;
    const user = { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: "admin", permissions, rid: "test" } as const;
    const asked = { baseUrl, audience: service, method, path: url, expiresAt: Date.now() + 10_000, caller: "gateway" } as const;
    const identity: Identity = { ...user, ...asked };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await fetch(`http://127.0.0.1:${port}${url}`, {
      method,
      headers: {
        ...identityHeaders(keys, identity, text === undefined ? undefined : Buffer.from(text)),
        "content-type": "application/json",
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const answered = await answer.text();
    return { status: answer.status, text: answered, body: (answered === "" ? {} : JSON.parse(answered)) as Json };
  };
  const close = async () => {
    await http.close();
    await db.close();
    await counter.close();
    await fixture.drop();
  };
  return { fixture, db, counter, call, close };
}
