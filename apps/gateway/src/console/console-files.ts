import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { ConfigError } from "@harrier/service";

/** A file of the console in memory, with the compressed variants that its build has made. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  readonly etag: string;
}

export interface ConsoleFiles {
  /** The document of every screen. Its `<base>` is written for each path prefix. */
  readonly index: string;
  /** The other files by their path below `/console/`. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The build has some 2 MB; a folder of more bytes or files than this is another one. */
const maxBytes = 16 * 1024 * 1024;
const maxFiles = 2_000;

const types: ReadonlyMap<string, string> = new Map([
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".html", "text/html; charset=utf-8"],
  [".json", "application/json"],
  [".webmanifest", "application/manifest+json"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
  [".ico", "image/x-icon"],
  [".woff2", "font/woff2"],
  [".wasm", "application/wasm"],
  [".txt", "text/plain; charset=utf-8"],
]);

/**
 * Reads the built console whole, once at the start: a request for it touches no disk, and a path of a request is only ever a key of a map. Files of
 * unknown kinds are left out, source maps among them. @throws ConfigError if the folder holds no console, or is larger than one can be.
 */
export function readConsole(folder: string): ConsoleFiles {
  const document = join(folder, "index.html");
  if (!existsSync(document))
    throw new ConfigError(`HARRIER_CONSOLE: ${folder} has no index.html; give the folder of the built console, or none`);
  const files = new Map<string, ConsoleFile>();
  for (const path of pathsIn(folder)) {
    const type = types.get(extname(path));
    if (type === undefined || path === document) continue;
    const body = readFileSync(path);
    files.set(relative(folder, path).split(sep).join("/"), {
      type,
      body,
      br: readIfThere(`${path}.br`),
      gzip: readIfThere(`${path}.gz`),
      etag: etagOf(body),
    });
  }
  return { index: readFileSync(document, "utf8"), files };
}

export const etagOf = (body: Buffer | string): string => `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

/** Lists the files before one is read. */
function pathsIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const bytes = paths.slice(0, maxFiles + 1).reduce((sum, path) => sum + statSync(path).size, 0);
  if (paths.length > maxFiles || bytes > maxBytes)
    throw new ConfigError(`HARRIER_CONSOLE: ${folder} has more than ${maxFiles} files or 16 MiB, so it is no console`);
  return paths;
}

/** Returns the console of the configured folder; without one, that of the image's own folder if it holds one. */
export function findConsole(configured: string | undefined, own: string): ConsoleFiles | undefined {
  if (configured === "none" || (configured === undefined && !existsSync(join(own, "index.html")))) return undefined;
  return readConsole(configured ?? own);
}

const readIfThere = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);
