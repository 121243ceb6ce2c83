import { Writable } from "node:stream";
import { oauthPaths } from "@harrier/contracts";
import { parseKeys } from "@harrier/rpc";
import { createHttp, createLog, createMetrics } from "@harrier/service";
import { SigningKeys } from "../oauth-tokens/signing-keys.ts";
import { serveTokenEndpoint } from "../oauth-tokens/token-endpoint.ts";
import type { Fixture } from "./management.fixture.ts";

export const issuer = "https://updates.example.com/harrier";

export interface TokenReplica {
  url: string;
  keys: SigningKeys;
  /** Sends POST /oauth2/token; `basic` is `clientId:secret`. */
  token(form: Record<string, string> | string, options?: { basic?: string; headers?: Record<string, string> }): Promise<TokenAnswer>;
  close(): Promise<void>;
}

export interface TokenAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a body as a client sees it
  body: any;
  headers: Headers;
}

/** Serves the token endpoint of one replica. */
export async function tokenReplica(fixture: Fixture, rotateMs = 90 * 24 * 60 * 60 * 1000): Promise<TokenReplica> {
  const log = createLog({ service: "management", level: "silent", destination: new Writable({ write: (_c, _e, done) => done() }) });
  const keys = new SigningKeys({ db: fixture.db, secrets: fixture.secrets, log, rotateMs });
  await keys.refresh();
  const identityKeys = parseKeys(`gateway/management=k1:${Buffer.alloc(32, 9).toString("base64")}`);
  const http = createHttp({ service: "management", keys: identityKeys, log, metrics: createMetrics({ service: "management" }) });
  serveTokenEndpoint(http.app, { db: fixture.db.pool, keys, issuer, log });
  const url = `http://127.0.0.1:${await http.listen("127.0.0.1", 0)}`;
  return {
    url,
    keys,
    async token(form, { basic, headers = {} } = {}) {
      const answer = await fetch(url + oauthPaths.token, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          ...(basic === undefined ? {} : { authorization: `Basic ${Buffer.from(basic).toString("base64")}` }),
          ...headers,
        },
        body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
      });
      return { status: answer.status, body: await answer.json(), headers: answer.headers };
    },
    async close() {
      await http.close(100);
    },
  };
}
