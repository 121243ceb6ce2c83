import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type Router } from "express";

interface Deps {
  health: Router;
  docs: Router;
  handle(req: IncomingMessage, res: ServerResponse): void;
}

/**
 * The public door: the few pages of our own by express, everything else straight to `handle`, because express would
 * change the prototypes of each request and cost a tenth of a poll here.
 */
export function createApp(deps: Deps): (req: IncomingMessage, res: ServerResponse) => void {
  const pages = createPages(deps);
  return (req, res) => {
    if (isOwnPage(req.url ?? "/")) pages(req, res);
    else deps.handle(req, res);
  };
}

function createPages(deps: Deps): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(deps.health);
  app.use(deps.docs);
  app.get("/", (req, res) => {
    if (req.method === "HEAD") res.end();
    else res.redirect(302, "/api/docs/");
  });
  app.use((req, res) => deps.handle(req, res));
  return app;
}

function isOwnPage(url: string): boolean {
  return url === "/" || url.startsWith("/api/docs") || url.startsWith("/livez") || url.startsWith("/readyz");
}
