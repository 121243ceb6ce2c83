import { fileURLToPath } from "node:url";
import { type Route, routeTable } from "@harrier/contracts";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const virtualModule = "virtual:harrier-routes";

/**
 * Writes the rows of the route table where they are named, without their schemas: `r.targets.list` becomes `r("targets.list", "GET", …)`. So a page
 * brings the rows that it uses, and the shell does not carry those of all pages.
 */
function rowsWithoutSchemas(): Plugin {
  return {
    name: "harrier-routes",
    enforce: "pre",
    resolveId: (id) => (id === virtualModule ? `\0${id}` : undefined),
    load: (id) => (id === `\0${virtualModule}` ? makesRows : undefined),
    transform: (code, id) => (id.startsWith(sources) && /\.tsx?$/.test(id) ? code.replace(/\br\.(\w+)\.(\w+)/g, written) : undefined),
  };
}

const sources = fileURLToPath(new URL("src/", import.meta.url));

type Row = Pick<Route, "method" | "path" | "permission" | "bodyKind" | "responseType">;

const makesRows = `export const r = (id, method, path, permission, bodyKind, responseType) =>
  ({ id, interface: "management", method, path, permission: permission ? permission.split(" ") : [], bodyKind, responseType });`;

/** Answers the call that makes a row; a name that is no operation fails the build. */
function written(name: string, feature: string, operation: string): string {
  const row = (routeTable as Record<string, Record<string, Row>>)[feature]?.[operation];
  if (row === undefined) throw new Error(`${name} is not in the route table`);
  return `r(${[`${feature}.${operation}`, ...bare(row)].map((value) => JSON.stringify(value) ?? "undefined").join()})`;
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
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(router-core|react-router|history|query-core|react-query|store|react-store))\/(?!.*\/(queriesObserver|useQueries)\.js)|packages\/client\/dist\/(?!server-events|client|pages|credentials|index)/;

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
