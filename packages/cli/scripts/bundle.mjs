// Makes dist/harrier.js: one file for Node 20 and newer, without native modules. The rows of the route table are put in without their schemas. What a
// command may not need is in the file as text (`asText`), because V8 reads a text many times faster than the same as a program.
import { chmodSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { routeTable } from "@harrier/contracts";
import { build } from "esbuild";

const require = createRequire(import.meta.url);
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

/** Modules of Node that most commands never use, and whose load costs as much as half of the program: they are loaded at the first use of what they export. */
const lazyBuiltins = {
  name: "lazy-builtins",
  setup(builder) {
    builder.onResolve({ filter: /^node:(child_process|crypto|readline|fs\/promises)$/ }, ({ path, namespace }) =>
      namespace === "lazy" ? undefined : { path, namespace: "lazy" },
    );
    builder.onLoad({ filter: /.*/, namespace: "lazy" }, ({ path }) => ({
      contents: `for (const name of ${JSON.stringify(Object.keys(require(path)))}) Object.defineProperty(exports, name, { enumerable: true, get: () => require(${JSON.stringify(path)})[name] });`,
      loader: "js",
    }));
  },
};

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  metafile: true,
  // what asks for it (examples of the documents) is not used, and is left out
  logOverride: { "empty-import-meta": "silent" },
};
const sizes = {};

/**
 * The whole program beside `version`, YAML, and the schemas that `apply` checks: none of them shares a class with another one that is thrown. The two
 * that the program has compiled are not in its text, which would be read to their end, but beside it, in `texts`.
 */
const asText = (names, texts) => ({
  name: "as-text",
  setup(builder) {
    builder.onResolve({ filter: /^yaml$|[\\/](program|schemas)\.ts$/ }, async ({ path, pluginData, kind, ...rest }) => {
      if (pluginData === "asked" || kind === "entry-point" || !names.includes(path.replace(/^.*[\\/]/, ""))) return undefined;
      const found = await builder.resolve(path, { ...rest, kind, pluginData: "asked" });
      return { path: found.path, namespace: "as-text", pluginData: path.replace(/^.*[\\/]/, "") };
    });
    builder.onLoad({ filter: /.*/, namespace: "as-text" }, async ({ path, pluginData: name }) => {
      const isProgram = name === "program.ts";
      const inside = {};
      const inner = await build({
        ...common,
        entryPoints: [path],
        format: "cjs",
        // a function that is compiled from text has no import() of its own
        supported: { "dynamic-import": false },
        write: false,
        outfile: "text.js",
        plugins: [...(isProgram ? [asText(["yaml", "schemas.ts"], inside)] : []), rowsWithoutSchemas, usedAlone, lazyBuiltins],
      });
      Object.assign(sizes, inner.metafile.outputs["text.js"].inputs);
      texts[name] = inner.outputFiles[0].text;
      return {
        contents: `${isProgram ? `const texts=${JSON.stringify({ ...inside, ...texts })};` : ""}require("node:vm").compileFunction(texts[${JSON.stringify(name)}],["require","module","exports","texts"],{filename:"harrier.js"})(require,module,exports,texts)`,
        loader: "js",
        resolveDir: root,
      };
    });
  },
});

const { metafile } = await build({
  ...common,
  entryPoints: ["src/main.ts"],
  outfile: "dist/harrier.js",
  format: "esm",
  define: { "globalThis.harrierVersion": JSON.stringify(version) },
  banner: {
    js: "#!/usr/bin/env node\nimport{createRequire as harrierRequire}from'node:module';const require=harrierRequire(import.meta.url);",
  },
  plugins: [asText(["program.ts"], {})],
});
chmodSync(join(root, "dist/harrier.js"), 0o755);
if (process.argv.includes("--sizes"))
  for (const [file, { bytesInOutput }] of Object.entries({ ...metafile.outputs["dist/harrier.js"].inputs, ...sizes })
    .sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)
    .slice(0, 25))
    console.log(bytesInOutput, file);
