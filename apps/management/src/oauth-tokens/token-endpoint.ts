import type { IncomingMessage, ServerResponse } from "node:http";
import { oauthPaths } from "@harrier/contracts";
import { type Queryable, runCount, runOne } from "@harrier/db";
import { toHarrierError } from "@harrier/errors";
import { parseClientId } from "../oauth-clients/client-id.ts";
import { createProvider, type ProviderDeps } from "./provider.ts";
import type { KeySetNow } from "./signing-keys.ts";
import { findTokenClient, recordClientUse } from "./token-clients.sql.ts";

type Serve = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** This is the part of an express app that is needed here. */
export interface App {
  get(path: string, handler: Serve): unknown;
  post(path: string, handler: Serve): unknown;
}

interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface TokenEndpointDeps {
  db: Queryable;
  keys: { current(): KeySetNow };
  issuer: string;
  log: Log;
}

/** Serves the token endpoint, its keys and its description (contract extensions.md); they need no identity signed by the gateway. */
export function serveTokenEndpoint(app: App, deps: TokenEndpointDeps): void {
  const serve = createServe(deps);
  const logged: Serve = async (req, res) => {
    const began = performance.now();
    res.on("finish", () => {
      const ms = Math.round((performance.now() - began) * 100) / 100;
      deps.log.info({ rid: req.headers["x-request-id"], route: `POST ${oauthPaths.token}`, status: res.statusCode, ms }, "request");
    });
    await serve(req, res);
  };
  app.post(oauthPaths.token, logged);
  app.get(oauthPaths.jwks, serve);
  app.get(oauthPaths.discovery, serve);
}

/** Returns the provider for the keys that are in force; a new one is built when they have changed. */
function createServe(deps: TokenEndpointDeps): Serve {
  const own = providerDeps(deps);
  let made: { keys: KeySetNow; serve: Serve } | undefined;
  return (req, res) => {
    const keys = deps.keys.current();
    if (made === undefined || !same(made.keys, keys)) made = { keys, serve: createProvider(own, keys) };
    return made.serve(req, res);
  };
}

function same(a: KeySetNow, b: KeySetNow): boolean {
  return a === b || (a.kid === b.kid && a.keys.length === b.keys.length && a.keys.every((key, n) => key.kid === b.keys[n]?.kid));
}

function providerDeps({ db, issuer, log }: TokenEndpointDeps): ProviderDeps {
  return {
    issuer,
    async findClient(clientId) {
      const key = parseClientId(clientId);
      return key === undefined ? undefined : runOne(db, findTokenClient, [key.tenantId, key.id]);
    },
    onToken(clientId) {
      const key = parseClientId(clientId);
      if (key === undefined) return;
      runCount(db, recordClientUse, [key.tenantId, key.id]).catch((err: unknown) =>
        log.warn({ err, clientId }, "the use of a client could not be noted"),
      );
    },
    onFailure: (err) => log.error({ err, code: toHarrierError(err).code }, "a token request failed"),
  };
}
