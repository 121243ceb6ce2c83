import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Route, routeTable } from "@harrier/contracts";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const virtualModule = "virtual:harrier-routes";

/** Puts the management rows of the route table into the bundle without their schemas: of a query only the names of its parameters are left. */
function rowsWithoutSchemas(): Plugin {
  return {
    name: "harrier-routes",
    resolveId: (id) => (id === virtualModule ? `\0${id}` : undefined),
    load: (id) => (id === `\0${virtualModule}` ? module() : undefined),
  };
}

type Row = Pick<Route, "method" | "path" | "permission" | "bodyKind" | "responseType">;

/** The operations that the sources name as `r.feature.operation`: rows of others would only be loaded with every page. */
function usedOperations(): ReadonlySet<string> {
  const source = fileURLToPath(new URL("src", import.meta.url));
  const files = readdirSync(source, { recursive: true }).map(String);
  const texts = files.filter((name) => /\.tsx?$/.test(name)).map((name) => readFileSync(join(source, name), "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(/\br\.(\w+)\.(\w+)/g)].map(([, feature, name]) => `${feature}.${name}`)));
}

/** The rows are written as short as they go, and get their names when the page loads: they are a part of every page. */
function module(): string {
  const used = usedOperations();
  const table: Record<string, Record<string, unknown[]>> = {};
  for (const [feature, rows] of Object.entries(routeTable) as [string, Record<string, Row>][]) {
    const bareRows = Object.entries(rows).filter(([name]) => used.has(`${feature}.${name}`));
    if (bareRows.length > 0) table[feature] = Object.fromEntries(bareRows.map(([name, row]) => [name, bare(row)]));
  }
  return `const table = ${JSON.stringify(table)};
export const r = {};
for (const feature in table) {
  r[feature] = {};
  for (const name in table[feature]) {
    const [method, path, permission, bodyKind, responseType] = table[feature][name];
    r[feature][name] = { id: feature + "." + name, interface: "management", method, path, permission: permission ? permission.split(" ") : [], bodyKind, responseType };
  }
}`;
}

function bare({ method, path, permission, bodyKind, responseType }: Row): unknown[] {
  const more = responseType !== undefined ? [bodyKind, responseType] : bodyKind !== undefined ? [bodyKind] : [];
  return [method, path, permission.join(" "), ...more];
}

/**
 * Leaves the table of error codes out of the client: the console shows what the server says, and tells cases apart by status and by the code of the
 * answer. The parser of queries, which is loaded with its box, keeps its own errors.
 */
function clientWithoutCodes(): Plugin {
  const name = "\0harrier-no-codes";
  return {
    name: "harrier-codes",
    enforce: "pre",
    resolveId: (id, importer) => (id === "@harrier/errors" && importer?.includes("/packages/client/") ? name : undefined),
    load: (id) => (id === name ? "export const codes = {};" : undefined),
  };
}

// `npm run dev` of this app shows the sources with the interface of a server that runs elsewhere.
const server = { proxy: { "/api": "http://127.0.0.1:8080", "/console/session": "http://127.0.0.1:8080" } };

const baseModules =
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(router-core|react-router|history|query-core|react-query|store|react-store))\/|packages\/client\//;

export default defineConfig({
  // The address below which a gateway serves it is known when a page is asked for (the base element of index.html), not when it is built.
  base: "./",
  plugins: [rowsWithoutSchemas(), clientWithoutCodes(), react()],
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    manifest: true,
    cssMinify: true,
    reportCompressedSize: false,
    // What every page loads is one file: many small ones compress worse, and cost a request each.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "base", test: baseModules }] } } },
  },
  // React has it by itself since 18; the store of the router asks for the copy that older ones need.
  resolve: { alias: [{ find: /^use-sync-external-store\/shim$/, replacement: "react" }] },
  worker: { format: "es" },
  server,
});
