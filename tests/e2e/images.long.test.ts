import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { workspaceRoot } from "@harrier/testkit";
import { afterAll, expect, test } from "vitest";

// The steps of the image recipe, without a container engine: the same sources make the same files, and the result starts.

const root = mkdtempSync(join(tmpdir(), "harrier-images-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const run = promisify(execFile);
const recipe = readFileSync(join(workspaceRoot, "deploy", "docker", "Dockerfile"), "utf8");
const lastStage = recipe.lastIndexOf("\nFROM ");
const build = recipe.slice(0, lastStage).replaceAll("\\\n", " ");
/** What the last stage takes of the sources, beside the app. */
const besideApp = [...recipe.slice(lastStage).matchAll(/^COPY --from=build \S+ \/src\/(\S+) \.\/(\S+)$/gm)];

/** Does what the build stage does, in a clean folder; returns the folder that becomes the image's. */
async function followRecipe(app: string, folder: string): Promise<string> {
  const [src, out] = [join(folder, "src"), join(folder, "out")];
  mkdirSync(src, { recursive: true });
  const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = ""]) => names.split(" "));
  const archive = execFileSync("git", ["archive", "HEAD", ...copied], { cwd: workspaceRoot, maxBuffer: 256 * 1024 * 1024 });
  execFileSync("tar", ["x"], { cwd: src, input: archive });
  const path = `${join(workspaceRoot, "node_modules", ".bin")}:${process.env["PATH"]}`;
  const steps = [...build.matchAll(/^RUN (.+)$/gm)].map(([, step = ""]) => step).filter((step) => !step.includes("npm install --global"));
  expect(steps.length).toBeGreaterThanOrEqual(5);
  for (const step of steps) {
    const here = step
      .replaceAll("/out", out)
      .replaceAll("/console &&", `${join(folder, "console")} &&`)
      .replaceAll("/console;", `${join(folder, "console")};`);
    await run("sh", ["-euc", here], {
      cwd: src,
      env: { HOME: process.env["HOME"], PATH: path, APP: app, CI: "true" },
      maxBuffer: 64 * 1024 * 1024,
    });
  }
  expect(besideApp.length).toBeGreaterThan(0);
  for (const [, from = "", to = ""] of besideApp) cpSync(join(src, from), join(out, to), { recursive: true });
  return out;
}

/** Returns a line for each file and link of a folder. */
function contents(folder: string): string[] {
  const lines: string[] = [];
  const walk = (path: string): void => {
    for (const name of readdirSync(path).toSorted()) {
      const file = join(path, name);
      const state = lstatSync(file);
      if (state.isDirectory()) walk(file);
      else if (state.isSymbolicLink()) lines.push(`${relative(folder, file)} -> ${readlinkSync(file)}`);
      else lines.push(`${relative(folder, file)} ${state.mode & 0o777} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`);
    }
  };
  walk(folder);
  return lines;
}

test.each(["artifact-store", "dmf"])(
  "the files of the image of %s are the same when made twice, and its program starts",
  async (app) => {
    const [first, second] = [await followRecipe(app, join(root, app, "a")), await followRecipe(app, join(root, app, "b"))];
    const [files, again] = [contents(first), contents(second)];
    expect(files.length).toBeGreaterThan(1_000);
    expect(again).toEqual(files);
    // Without settings it names the first one that is missing, so everything that it imports is there.
    const ended = await run(process.execPath, ["dist/main.js"], { cwd: first, env: { PATH: process.env["PATH"] } }).then(
      () => "started",
      (error: { stderr: string }) => error.stderr,
    );
    expect(ended).toMatch(/^\S+: cannot start: HARRIER_/);
  },
  600_000,
);
