import type { IncomingMessage, ServerResponse } from "node:http";
import { HarrierError, toHarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { clientOf } from "../client/client.ts";
import { cutWhenStillSending } from "../listen/still-sending.ts";
import type { HandleDeps, RequestFacts } from "../routing/handle.ts";
import type { OpenPath } from "../routing/open-paths.ts";
import { publicAddress } from "../routing/public-address.ts";
import { sendRefusal } from "../routing/refusal.ts";
import { requestId } from "../routing/request-id.ts";
import type { ConsoleConfig } from "./console-config.ts";
import type { ConsoleFiles } from "./console-files.ts";
import { createServeFiles, secure } from "./serve-files.ts";
import { serveSession } from "./session-routes.ts";
import { type SignInRouteDeps, serveSignIn } from "./sign-in-routes.ts";

export interface ConsoleDeps extends SignInRouteDeps, Pick<HandleDeps, "onEnd" | "stillSendingMs"> {
  /** Absent: only the paths that the command line uses too are served. */
  files: ConsoleFiles | undefined;
  config: Omit<ConsoleConfig, "publicUrl">;
}

/** The console at the gateway: its files and its sign-in. */
export interface Console {
  /** True if this path of the gateway belongs to the console. */
  owns(url: string): boolean;
  serve(req: IncomingMessage, res: ServerResponse): void;
  /** Where a browser that calls `/` goes; undefined without a console. */
  home(req: IncomingMessage): string | undefined;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly rid: string;
  readonly startedAt: number;
  readonly facts: RequestFacts;
}

/** A tenant may be called `console`: these are paths of its devices, and no screen's. */
const ofDevices = "/console/controller/";

/** Serves `/console`, which is no part of the interfaces in the route table. */
export function createConsole(deps: ConsoleDeps): Console {
  const serveFiles = deps.files === undefined ? undefined : createServeFiles(deps.files);
  const addressOf = (req: IncomingMessage) => publicAddress(req, deps.publicUrl, clientOf(req, deps.trustedProxies).origin);
  const prefixOf = (req: IncomingMessage) => new URL(addressOf(req)).pathname.replace(/\/$/, "");

  async function route(exchange: Exchange, path: string): Promise<void> {
    const { req, res } = exchange;
    const signedIn = (principal: Principal): void => void Object.assign(exchange.facts, { principal });
    if (path === "/console/session") {
      allow(req, ["GET", "HEAD", "POST", "DELETE"]);
      return serveSession(deps, { ...exchange, signedIn });
    }
    if (path.startsWith("/console/auth/")) {
      allow(req, ["GET"]);
      return serveSignIn(deps, { ...exchange, signedIn });
    }
    allow(req, ["GET", "HEAD"]);
    if (path === "/console/config") return sendConfig(req, res, { ...deps.config, publicUrl: addressOf(req) });
    if (serveFiles === undefined) throw new HarrierError("routeNotFound");
    if (path === "/console") res.writeHead(308, { location: `${prefixOf(req)}/console/` }).end();
    else serveFiles({ req, res, path: path.slice("/console/".length), prefix: prefixOf(req) });
  }

  return {
    owns: (url) => /^\/console(?:[/?]|$)/.test(url) && !url.startsWith(ofDevices),
    home: (req) => (serveFiles === undefined ? undefined : `${prefixOf(req)}/console/`),
    serve(req, res) {
      const startedAt = deps.now();
      const rid = requestId(req);
      const path = (req.url ?? "/").split("?", 1)[0] ?? "";
      res.setHeader("x-request-id", rid);
      secure(res);
      const facts: RequestFacts = { rid, startedAt, open: { method: methodOf(req), path: patternOf(path) } };
      res.on("finish", () => {
        deps.onEnd(req, res, facts);
        cutWhenStillSending(req, deps.stillSendingMs);
      });
      const refuse = (error: unknown): void => sendRefusal({ req, res, error: toHarrierError(error), surface: "spec" });
      route({ req, res, rid, startedAt, facts }, path).catch(refuse);
    },
  };
}

function allow(req: IncomingMessage, methods: readonly string[]): void {
  if (methods.includes(req.method ?? "")) return;
  throw new HarrierError("methodNotAllowed", undefined, { headers: { allow: methods.join(", ") } });
}

/** The names of methods in metrics are ours, and not whatever a client sends. */
function methodOf({ method }: IncomingMessage): OpenPath["method"] {
  return method === "POST" || method === "DELETE" ? method : "GET";
}

function sendConfig(req: IncomingMessage, res: ServerResponse, config: ConsoleConfig): void {
  const body = JSON.stringify(config);
  const length = Buffer.byteLength(body);
  res.writeHead(200, { "content-type": "application/json", "cache-control": "private, max-age=60", "content-length": length });
  res.end(req.method === "HEAD" ? undefined : body);
}

const known: ReadonlySet<string> = new Set(["/console/config", "/console/session"]);

/** In logs and metrics all screens and files are one, because their paths are the client's words. */
function patternOf(path: string): string {
  if (path.startsWith("/console/auth/")) return "/console/auth/*";
  return known.has(path) ? path : "/console/*";
}
