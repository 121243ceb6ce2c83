import type { IncomingMessage, ServerResponse } from "node:http";
import { oauthPaths } from "@harrier/contracts";
import { HarrierError, toHarrierError } from "@harrier/errors";
import type { BeginClientSignIn } from "../authentication/client-token/client-sign-ins.ts";
import type { AddressList } from "../client/address-list.ts";
import { type Client, clientOf } from "../client/client.ts";
import { openHolders } from "../limits/body-shares.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { namedByConnection } from "./foreign-headers.ts";
import type { Forward, ForwardedRequest } from "./forward.ts";
import { type BodyReader, hasBody } from "./read-body.ts";
import { sendRefusal } from "./refusal.ts";
import type { Upstreams } from "./upstreams.ts";

/** An open path; management and not the gateway authenticates a token request (spec 000 §5.2; contract extensions.md). */
export interface OpenPath {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
}

export interface OpenDeps {
  trustedProxies: AddressList;
  rates: Pick<RateLimits, "admitsAddress">;
  upstreams: Pick<Upstreams, "pick">;
  forward: Forward;
  openBodies: BodyReader;
  isForeign(header: string): boolean;
  beginClientSignIn: BeginClientSignIn;
}

const openPaths: ReadonlyMap<string, OpenPath> = new Map(
  [
    { method: "POST", path: oauthPaths.token } as const,
    { method: "GET", path: oauthPaths.jwks } as const,
    { method: "GET", path: oauthPaths.discovery } as const,
  ].map((open) => [open.path, open]),
);

export const openPathOf = (path: string): OpenPath | undefined => openPaths.get(path);

/** No token request needs more. */
const maxFormBytes = 64 * 1024;
const budgetMs = 5_000;

export interface OpenRequest {
  req: IncomingMessage;
  res: ServerResponse;
  open: OpenPath;
  rid: string;
  now: number;
}

/**
 * Forwards a request to management without an identity, so that nothing claims a principal. It counts for its address before anything else, because
 * every guessed secret comes this way. Only here the credential is forwarded: management checks it, and its outcome counts as with every other
 * sign-in.
 */
export function passOpen(deps: OpenDeps, request: OpenRequest): void {
  const { req, res } = request;
  const refuse = (error: unknown): void => sendRefusal({ req, res, error: toHarrierError(error), surface: "device" });
  try {
    const client = admit(deps, request);
    for (const name of namedByConnection(req.headers.connection)) delete req.headers[name];
    for (const name in req.headers) if (deps.isForeign(name)) delete req.headers[name];
    req.headers["x-forwarded-for"] = client.address;
    req.headers["x-request-id"] = request.rid;
    if (hasBody(req)) passWithBody(deps, request, client).catch(refuse);
    else forward(deps, request, client);
  } catch (error) {
    refuse(error);
  }
}

/** Throws for requests that are not forwarded. */
function admit({ trustedProxies, rates }: OpenDeps, { req, open, now }: OpenRequest): Client {
  const client = clientOf(req, trustedProxies);
  const kind = req.method === "GET" ? "reads" : "writes";
  if (!rates.admitsAddress({ address: client.address, hidden: client.hidden, kind, now }))
    throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
  const requested = req.method === "HEAD" ? "GET" : req.method;
  if (requested !== open.method) throw new HarrierError("methodNotAllowed", undefined, { headers: { allow: open.method } });
  return client;
}

async function passWithBody(deps: OpenDeps, request: OpenRequest, client: Client): Promise<void> {
  const { req, res } = request;
  const { headers } = req;
  const body = await deps.openBodies.read({ req, res, maxBytes: maxFormBytes, holders: openHolders(client.address) });
  delete headers["transfer-encoding"];
  headers["content-length"] = String(body.length);
  forward(deps, request, client, body);
}

function forward(deps: OpenDeps, { req, res, open, rid, now }: OpenRequest, client: Client, body?: Buffer): void {
  if (open.path === oauthPaths.token) {
    const ended = deps.beginClientSignIn({ client, authorization: req.headers.authorization, body, rid });
    res.on("finish", () => ended(res.statusCode));
  }
  const forwarded = req as ForwardedRequest;
  forwarded.replica = deps.upstreams.pick("management");
  forwarded.surface = "device";
  forwarded.deadline = now + budgetMs;
  forwarded.repeated = false;
  forwarded.readBody = body;
  deps.forward(forwarded, res);
}
