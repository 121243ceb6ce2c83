import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Stack } from "@harrier/stack";
import { npmClient, pythonPackages, startTestStack, uniqueName, workspaceRoot } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

// Generators of others make clients from the published documents, and each client makes ten operations.

const run = promisify(execFile);
const published = (name: string) => join(workspaceRoot, "docs", "api", `openapi-${name}.json`);
const script = (name: string) => join(import.meta.dirname, "ten-calls", name);

let stack: Stack;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-generated-"));
  stack = await startTestStack();
});
afterAll(async () => {
  await stack?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const options = { timeout: 240_000, maxBuffer: 16_000_000 };
const limits = { timeout: 600_000, retry: 0 };

/** The results of the ten calls of either client. */
const outcome = (name: string) => ({
  statuses: [200, 201, 201, 201, 201, 200, 200, 200, 200, 200, 201],
  tenant: "DEFAULT",
  size: 14,
  complete: true,
  description: "changed",
  created: 1,
  found: [2, 1, name],
  assigned: 1,
  running: true,
  forceType: "soft",
  rollout: name,
  targetId: name,
});

/** Builds the arguments of a script of ten calls. */
const requested = (name: string) => [stack.baseUrl, stack.adminUser, stack.adminPassword, name];

/** Generates a Python package from a document; returns the interpreter that can import it from its folder. */
async function makePython(document: string, output: string, ...more: string[]): Promise<string> {
  const python = await pythonPackages("openapi-python-client==0.29.1");
  const config = join(dir, "python.json");
  // The generator treats CSV as bytes, and would run formatters that are not installed.
  writeFileSync(config, JSON.stringify({ content_type_overrides: { "text/csv": "application/octet-stream" }, post_hooks: [] }));
  const from = ["--path", published(document), "--config", config, "--meta", "none", "--output-path", output];
  await run(python, ["-m", "openapi_python_client", "generate", ...from, ...more], { ...options, cwd: dir });
  return python;
}

test("a Python client is generated without a warning, and makes its calls", limits, async () => {
  const python = await makePython("mgmt", join(dir, "harrier_client"), "--fail-on-warning");
  const name = uniqueName("py");
  const env = { ...process.env, PYTHONPATH: dir };
  const { stdout } = await run(python, [script("ten_calls.py"), ...requested(name)], { ...options, env });
  expect(JSON.parse(stdout)).toEqual(outcome(name));
});

/** Imports every module of the package `made`, and counts those that are an operation. */
const importAll = `import importlib, pkgutil, made
names = [m.name for m in pkgutil.walk_packages(made.__path__, "made.")]
for name in names: importlib.import_module(name)
print(sum(name.startswith("made.api.") and name.count(".") == 3 for name in names))
`;

test.each(["mgmt", "rest", "device"])(
  "every operation of %s is in a Python client whose modules can all be imported",
  limits,
  async (name) => {
    const parent = join(dir, `all-${name}`);
    mkdirSync(parent);
    const python = await makePython(name, join(parent, "made"));
    const { stdout } = await run(python, ["-c", importAll], { ...options, env: { ...process.env, PYTHONPATH: parent } });
    const { paths } = JSON.parse(readFileSync(published(name), "utf8")) as { paths: Record<string, object> };
    expect(Number(stdout)).toBe(Object.values(paths).flatMap((item) => Object.keys(item)).length);
  },
);

test("TypeScript types are generated, compile under strict rules, and make ten calls", limits, async () => {
  const [generator, fetcher] = await Promise.all([npmClient("openapi-typescript", "7.13.0"), npmClient("openapi-fetch", "0.17.0")]);
  const own = join(dir, "typescript");
  mkdirSync(join(own, "node_modules", "@types"), { recursive: true });
  writeFileSync(join(own, "package.json"), JSON.stringify({ type: "module" }));
  symlinkSync(fetcher, join(own, "node_modules", "openapi-fetch"));
  symlinkSync(join(workspaceRoot, "node_modules", "@types", "node"), join(own, "node_modules", "@types", "node"));
  // A request may omit what has a default.
  const from = [published("mgmt"), "--default-non-nullable", "false", "--output", join(own, "schema.d.ts")];
  await run(process.execPath, [join(generator, "bin", "cli.js"), ...from], options);
  copyFileSync(script("ten-calls.ts"), join(own, "ten-calls.ts"));
  const strict = [
    "--strict",
    "--noUncheckedIndexedAccess",
    "--exactOptionalPropertyTypes",
    "--allowImportingTsExtensions",
    "--skipLibCheck",
    "false",
  ];
  const modules = ["--target", "es2024", "--module", "nodenext", "--types", "node", "--noEmit"];
  const tsc = join(workspaceRoot, "node_modules", ".bin", "tsc");
  const checked = await run(tsc, [...strict, ...modules, "ten-calls.ts"], { ...options, cwd: own }).catch(
    (error: { stdout: string }) => error,
  );
  expect(checked.stdout).toBe("");
  const name = uniqueName("ts");
  const { stdout } = await run(process.execPath, ["ten-calls.ts", ...requested(name)], { ...options, cwd: own });
  expect(JSON.parse(stdout)).toEqual(outcome(name));
});

test("redocly and spectral find no error in any document", limits, async () => {
  const [redocly, spectral] = await Promise.all([npmClient("@redocly/cli", "2.77.0"), npmClient("@stoplight/spectral-cli", "6.16.3")]);
  const rules = join(dir, "spectral.json");
  writeFileSync(rules, JSON.stringify({ extends: ["spectral:oas"] }));
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" };
  const files = ["mgmt", "rest", "device"].map(published);
  const byRedocly = [join(redocly, "bin", "cli.js"), "lint", ...files, "--extends", "recommended", "--format", "json"];
  const bySpectral = [
    join(spectral, "dist", "index.js"),
    "lint",
    ...files,
    "--ruleset",
    rules,
    "--fail-severity",
    "error",
    "--format",
    "json",
  ];
  // An exit code other than 0 rejects, with the findings.
  await run(process.execPath, byRedocly, { ...options, env, cwd: dirname(rules) });
  await run(process.execPath, bySpectral, { ...options, env, cwd: dirname(rules) });
});
