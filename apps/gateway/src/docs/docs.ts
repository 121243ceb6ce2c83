import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { openApiDocument } from "@harrier/contracts";
import express, { type Router } from "express";

const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Harrier API</title><link rel="stylesheet" href="swagger-ui.css"></head>
<body><div id="api"></div><script src="swagger-ui-bundle.js"></script><script src="start.js"></script></body>
</html>
`;
const start = `SwaggerUIBundle({ url: "openapi.json", dom_id: "#api", deepLinking: true });\n`;

/** GET /api/docs/: the interactive page of both interfaces, and /api/docs/openapi.json, generated from the route table. */
export function docsRouter(): Router {
  const assets = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const document = JSON.stringify(openApiDocument());
  const files = {
    "swagger-ui.css": { type: "text/css", body: readFileSync(join(assets, "swagger-ui.css")) },
    "swagger-ui-bundle.js": { type: "text/javascript", body: readFileSync(join(assets, "swagger-ui-bundle.js")) },
    "start.js": { type: "text/javascript", body: Buffer.from(start) },
    "openapi.json": { type: "application/json", body: Buffer.from(document) },
  };
  const router = express.Router({ strict: true });
  router.get("/api/docs", (_req, res) => res.redirect(308, "/api/docs/"));
  router.get("/api/docs/", (_req, res) => {
    res.set("content-security-policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:");
    res.type("html").send(page);
  });
  for (const [name, file] of Object.entries(files)) {
    router.get(`/api/docs/${name}`, (_req, res) => {
      res.set("cache-control", "public, max-age=300").type(file.type).send(file.body);
    });
  }
  return router;
}
