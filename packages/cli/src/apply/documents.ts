import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMap, isScalar, parseAllDocuments } from "yaml";
import { usage } from "../exit.ts";
import { expanded } from "./schemas.ts";

/** One object of a file, with where it stands. */
export interface Manifest {
  readonly kind: string;
  readonly name: string;
  readonly version?: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The place for messages: file and line. */
  readonly at: string;
  /** The folder from which the paths of its files go. */
  readonly folder: string;
}

const apiVersion = "harrier/v1";
/** All files together; more is no set of manifests. */
const maxBytes = 16 * 1024 * 1024;
const maxObjects = 10_000;

/** Reads the objects of a file, of all YAML files of a folder, or of standard input (`-`). */
export function readManifests(paths: readonly string[]): Manifest[] {
  const files = paths.flatMap((path) => (path !== "-" && statSync(path).isDirectory() ? yamlFilesIn(path) : [path]));
  let bytes = 0;
  const all = files.flatMap((file) => {
    const text = readFileSync(file === "-" ? 0 : file, "utf8");
    bytes += text.length;
    if (bytes > maxBytes) throw usage(`the files have more than ${maxBytes} bytes`);
    return manifestsOf(text, file);
  });
  if (all.length > maxObjects) throw usage(`more than ${maxObjects} objects at a time`);
  const seen = new Map<string, string>();
  for (const { kind, name, version, at } of all) {
    const key = `${kind} ${name}:${version ?? ""}`;
    if (seen.has(key)) throw usage(`${at}: ${kind} ${name} is also at ${seen.get(key)}`);
    seen.set(key, at);
  }
  return all;
}

function yamlFilesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }).map(String);
  return names
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

function manifestsOf(text: string, file: string): Manifest[] {
  const parsed = parseAllDocuments(text);
  if (!Array.isArray(parsed)) return [];
  let stated: unknown;
  return parsed.flatMap((document) => {
    const [first] = document.errors;
    if (first !== undefined) throw usage(`${file}: ${first.message}`);
    if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) return [];
    const line = text.slice(0, document.contents.range?.[0] ?? 0).split("\n").length;
    const at = `${file}:${line}`;
    if (!isMap(document.contents)) throw usage(`${at}: is no object`);
    // What the first document of a file says holds for those behind it that do not say it.
    const { apiVersion: own, ...value } = document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>;
    stated = own ?? stated;
    return [checked({ ...value, apiVersion: stated }, at, file === "-" ? "." : dirname(file))];
  });
}

function checked(value: Record<string, unknown>, at: string, folder: string): Manifest {
  const { apiVersion: version, kind: written, metadata, spec, ...others } = value;
  const kind = written === "Config" ? "Setting" : written;
  const unknown = Object.keys(others);
  if (unknown.length > 0) throw usage(`${at}: unknown member ${unknown.join(", ")}`);
  if (version !== apiVersion) throw usage(`${at}: apiVersion must be ${apiVersion}`);
  const { name, version: ofIt, ...more } = (metadata ?? {}) as Record<string, unknown>;
  if (typeof kind !== "string") throw usage(`${at}: kind is missing`);
  if (typeof name !== "string" || Object.keys(more).length > 0)
    throw usage(`${at}: metadata must have a name, and nothing but name and version`);
  if (ofIt !== undefined && typeof ofIt !== "string") throw usage(`${at}: the version must be a text: write "${String(ofIt)}" in quotes`);
  if (spec !== undefined && (spec === null || typeof spec !== "object" || Array.isArray(spec)))
    throw usage(`${at}: spec must be an object`);
  const members = expanded(kind, (spec ?? {}) as Record<string, unknown>);
  return { kind, name, ...(ofIt === undefined ? {} : { version: ofIt }), spec: members, at, folder };
}
