import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type Router } from "express";

interface Deps {
  health: Router;
  docs: Router;
  handle(req: IncomingMessage, res: ServerResponse): void;
}

/** The public door. Polls come first: whatever is not one of the few pages of our own goes straight to `handle`. */
export function createApp(deps: Deps): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use((req, res, next) => {
    if (isOwnPage(req.url)) next();
    else deps.handle(req, res);
  });
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
