import type { IncomingMessage, ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import express, { type Express, type Router } from "express";
import type { Console } from "./console/console.ts";
import { isAmbiguous } from "./listen/broken-requests.ts";
import { cutWhenStillSending } from "./listen/still-sending.ts";
import { sendRefusal } from "./routing/refusal.ts";

interface Deps {
  health: Router;
  docs: Router;
  console: Console;
  /** The same as in `handle`. */
  stillSendingMs: number;
  /** Returns true from the signal to stop on. */
  isDraining(): boolean;
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** A request has come that is no probe. */
  onRequest(): void;
}

const ambiguous = new HarrierError("bodyNotReadable", "The request is not well formed");

/**
 * This is the public edge: express serves the few pages of the gateway itself, and everything else goes straight to `handle`, because express would
 * change the prototypes of each request and cost a tenth of a poll.
 */
export function createApp(deps: Deps): (req: IncomingMessage, res: ServerResponse) => void {
  const pages = createPages(deps);
  return (req, res) => {
    // The client's next request shall use a connection to a gateway that stays.
    if (deps.isDraining()) res.shouldKeepAlive = false;
    if (!isProbe(req.url ?? "/")) deps.onRequest();
    if (isAmbiguous(req)) refuseAmbiguous(deps, req, res);
    else if (isOwnPage(req.url ?? "/")) {
      res.once("finish", () => cutWhenStillSending(req, deps.stillSendingMs));
      pages(req, res);
    } else if (deps.console.owns(req.url ?? "/")) deps.console.serve(req, res);
    else deps.handle(req, res);
  };
}

/** Two readers could understand what follows on the connection differently too, so it is closed. */
function refuseAmbiguous({ stillSendingMs }: Deps, req: IncomingMessage, res: ServerResponse): void {
  res.shouldKeepAlive = false;
  res.once("finish", () => cutWhenStillSending(req, stillSendingMs));
  sendRefusal({ req, res, error: ambiguous, surface: "device" });
}

function createPages(deps: Deps): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(deps.health);
  app.use(deps.docs);
  app.get("/", (req, res) => {
    if (req.method === "HEAD") res.end();
    else res.redirect(302, (isBrowser(req) ? deps.console.home(req) : undefined) ?? "/api/docs/");
  });
  app.use((req, res) => deps.handle(req, res));
  return app;
}

/** Tools that follow the address of an installation expect what has always been there. */
const isBrowser = (req: IncomingMessage): boolean => req.headers.accept?.includes("text/html") === true;

const isProbe = (url: string): boolean => url.startsWith("/livez") || url.startsWith("/readyz");

const isOwnPage = (url: string): boolean => url === "/" || url.startsWith("/api/docs") || isProbe(url);
