import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type OpenApiName, openApiDocument, openApiDocuments } from "@harrier/contracts";
import express, { type Router } from "express";

const names = Object.keys(openApiDocuments) as OpenApiName[];
const fileOf = (name: OpenApiName) => `openapi-${name}.json`;

const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Harrier API</title><link rel="stylesheet" href="swagger-ui.css"></head>
<body><div id="api"></div><script src="swagger-ui-bundle.js"></script><script src="swagger-ui-standalone-preset.js"></script><script src="start.js"></script></body>
</html>
`;

/** The page shows one document, and offers the others in its bar. */
const start = `SwaggerUIBundle({
  urls: ${JSON.stringify(names.map((name) => ({ name, url: fileOf(name) })))},
  dom_id: "#api",
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: "StandaloneLayout",
  validatorUrl: "none",
});
`;

/**
 * Serves GET /api/docs/, the interactive page of all interfaces, and /api/docs/openapi-mgmt.json, openapi-rest.json, openapi-device.json, which are
 * generated from the route table. /api/docs/openapi.json, the name of the former single document, is that of management.
 */
export function docsRouter(): Router {
  const assets = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const asset = (name: string) => readFileSync(join(assets, name));
  const files: Record<string, { type: string; body: Buffer }> = {
    "swagger-ui.css": { type: "text/css", body: asset("swagger-ui.css") },
    "swagger-ui-bundle.js": { type: "text/javascript", body: asset("swagger-ui-bundle.js") },
    "swagger-ui-standalone-preset.js": { type: "text/javascript", body: asset("swagger-ui-standalone-preset.js") },
    "start.js": { type: "text/javascript", body: Buffer.from(start) },
  };
  for (const name of names) files[fileOf(name)] = { type: "application/json", body: Buffer.from(JSON.stringify(openApiDocument(name))) };
  files["openapi.json"] = files[fileOf("mgmt")] as (typeof files)[string];
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
