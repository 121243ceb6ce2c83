// Makes dist/harrier.js: one file for Node 20 and newer, without native modules. The rows of the route table are put in without their schemas;
// `apply` and `explain` carry the schemas that they check, which are evaluated only when one of these commands runs.
import { chmodSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { routeTable } from "@harrier/contracts";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** A row without schemas: of a query only the names of its parameters are left. */
function bare({ id, interface: of, method, path, query, bodyKind, responseType, success, permission, errors }) {
  const names = Object.fromEntries(Object.keys(query?.shape ?? {}).map((name) => [name, true]));
  return {
    id,
    interface: of,
    method,
    path,
    ...(query && { query: { shape: names } }),
    bodyKind,
    responseType,
    success,
    permission,
    errors,
  };
}

const table = Object.fromEntries(
  Object.entries(routeTable)
    .filter(([feature]) => feature !== "device")
    .map(([feature, rows]) => [feature, Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, bare(row)]))]),
);

const rowsWithoutSchemas = {
  name: "rows-without-schemas",
  setup(builder) {
    builder.onLoad({ filter: /packages[\\/]cli[\\/]src[\\/]routes\.ts$/ }, () => ({
      contents: `export const r = JSON.parse(${JSON.stringify(JSON.stringify(table))});`,
      loader: "js",
    }));
  },
};

/** Only the schemas that are used are carried, and of the languages of zod's messages English alone, which is what the program speaks. */
const usedAlone = {
  name: "used-alone",
  setup(builder) {
    builder.onResolve({ filter: /^@harrier\/(contracts|errors|client)$/ }, async ({ path, pluginData, ...rest }) => {
      if (pluginData === "asked") return undefined;
      const found = await builder.resolve(path, { ...rest, pluginData: "asked" });
      return { ...found, sideEffects: false };
    });
    builder.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from "./en.js";`,
      loader: "js",
    }));
  },
};

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  outfile: "dist/harrier.js",
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  minify: true,
  legalComments: "none",
  define: { "globalThis.harrierVersion": JSON.stringify(version) },
  banner: {
    js: "#!/usr/bin/env node\nimport{createRequire as harrierRequire}from'node:module';const require=harrierRequire(import.meta.url);",
  },
  plugins: [rowsWithoutSchemas, usedAlone],
  metafile: true,
});
chmodSync(join(root, "dist/harrier.js"), 0o755);
if (process.argv.includes("--sizes"))
  for (const [file, { bytesInOutput }] of Object.entries(metafile.outputs["dist/harrier.js"].inputs)
    .sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)
    .slice(0, 25))
    console.log(bytesInOutput, file);
