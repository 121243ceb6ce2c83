import { existsSync, realpathSync } from "node:fs";
import { basename, isAbsolute, join, relative, sep } from "node:path";
import type { RouteRow } from "@harrier/client";
import type { ArtifactView } from "@harrier/contracts";
import { ExitError, exit, usage } from "../exit.ts";
import { r } from "../routes.ts";
import { isSecretSetting } from "../secret-setting.ts";
import type { Session } from "../session.ts";
import { sha256Of } from "../upload-file.ts";
import { inBatches } from "./batches.ts";
import { type Manifest, readManifests } from "./documents.ts";
import { type Found, keyOf, kinds, moduleNames } from "./kinds.ts";
import { type KindName, kindNames, problemOf } from "./schemas.ts";
import { State } from "./state.ts";

export interface FileUpload {
  readonly file: string;
  readonly filename: string;
  readonly sha256?: string | undefined;
}

/** What is to be done with one object, and the lines that show it. */
export interface Step {
  readonly verdict: "create" | "update" | "same" | "immutable" | "blocked";
  readonly manifest: Manifest;
  readonly kind: KindName;
  readonly found?: Found | undefined;
  /** The members of an update. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly uploads?: readonly FileUpload[];
  readonly lock?: boolean;
  /** The rollout is to be started as soon as it is ready. */
  readonly start?: boolean;
  readonly lines: readonly string[];
}

export interface Plan {
  readonly steps: readonly Step[];
  readonly state: State;
}

/** What is wrong with manifests by themselves, each with its place: kinds, members, versions. */
export function problemsIn(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap(({ kind, spec, name, version, at }) => {
    if (!kindNames.includes(kind as KindName)) return [`${at}: there is no kind ${kind}: ${kindNames.join(", ")}`];
    const problem = problemOf(kind as KindName, spec);
    const versioned = kind !== "Setting" && kinds[kind as "Rollout"].versioned === true;
    return [
      ...(problem === undefined ? [] : [`${at}: ${kind} ${name}: ${problem}`]),
      ...(versioned === (version !== undefined) ? [] : [`${at}: metadata.version ${versioned ? "is missing" : "does not belong here"}`]),
    ];
  });
}

export interface PlanOptions {
  /** Artifacts may lie outside of the folder of the manifest that names them. */
  readonly outside?: boolean;
}

/** Reads files and server and compares them. Nothing is changed. */
export async function planOf(session: Session, paths: readonly string[], { outside = false }: PlanOptions = {}): Promise<Plan> {
  const manifests = readManifests(paths);
  const [first] = problemsIn(manifests);
  if (first !== undefined) throw usage(first);
  const ordered = [...manifests].sort((a, b) => kindNames.indexOf(a.kind as KindName) - kindNames.indexOf(b.kind as KindName));
  const state = await State.read(session, ordered);
  for (const manifest of ordered) checkNamed(manifest, ordered, state);
  const { permissions = [] } = await session.read(r.userinfo.get);
  const steps: Step[] = [];
  const held = new Set(permissions);
  for await (const step of inBatches(ordered, (manifest) => stepOf(session, manifest, state, outside)))
    steps.push(blockedUnless(held, step));
  return { steps, state };
}

/** What is named must be on the server or in the files. */
function checkNamed({ kind, spec, at, name }: Manifest, all: readonly Manifest[], state: State): void {
  const has = (of: "SoftwareModule" | "DistributionSet", key: string) =>
    state.get(of, key) !== undefined || all.some((one) => one.kind === of && keyOf(one) === key);
  const missing = (of: string, key: string) =>
    new ExitError(exit.notFound, `${at}: ${kind} ${name} names the ${of} ${key}, which is neither on the server nor in the files`);
  if (kind === "DistributionSet") for (const key of moduleNames(spec)) if (!has("SoftwareModule", key)) throw missing("module", key);
  if (typeof spec["set"] === "string" && !has("DistributionSet", spec["set"])) throw missing("set", spec["set"]);
  const keyed = (of: "ModuleType" | "SetType" | "TargetType", key: string) =>
    state.byKey(of, key) !== undefined || all.some((one) => one.kind === of && (one.spec["key"] === key || one.name === key));
  for (const [of, key] of typesNamed(kind, spec)) if (!keyed(of, key)) throw missing(of, key);
}

/** The types that a type or a role names. */
function typesNamed(kind: string, spec: Manifest["spec"]): readonly (readonly ["ModuleType" | "SetType" | "TargetType", string])[] {
  const listed = (name: string) => (spec[name] ?? []) as readonly string[];
  if (kind === "SetType") return [...listed("mandatory"), ...listed("optional")].map((key) => ["ModuleType", key]);
  if (kind === "TargetType") return listed("setTypes").map((key) => ["SetType", key]);
  if (kind !== "Role") return [];
  const grants = (spec["permissions"] ?? []) as readonly (string | { readonly targetTypes?: readonly string[] })[];
  return grants.flatMap((grant) => (typeof grant === "string" ? [] : (grant.targetTypes ?? []))).map((name) => ["TargetType", name]);
}

/** The operations that a step will call, the ones behind the creation too: none is begun that could not be ended. */
function callsOf({ kind, verdict, body, uploads = [], lock, start }: Step): readonly (RouteRow | undefined)[] {
  if (kind === "Setting") return [r.configs.put];
  const { create, update } = kinds[kind];
  const isNew = verdict === "create";
  return [
    ...(isNew ? [create] : []),
    ...(uploads.length > 0 ? [r.artifacts.upload] : []),
    ...(lock === true || (!isNew && Object.keys(body ?? {}).length > 0) ? [update] : []),
    ...(start === true ? [r.rollouts.get, r.rollouts.start] : []),
  ];
}

function blockedUnless(permissions: ReadonlySet<string>, step: Step): Step {
  if (step.verdict !== "create" && step.verdict !== "update") return step;
  const needed = new Set(callsOf(step).flatMap((row) => row?.permission ?? []));
  const lacking = [...needed].filter((permission) => !permissions.has(permission));
  return lacking.length === 0 ? step : { ...step, verdict: "blocked", lines: [`needs ${lacking.join(" and ")}`] };
}

const notBegun = new Set(["creating", "waiting_for_approval", "ready"]);

async function stepOf(session: Session, manifest: Manifest, state: State, outside: boolean): Promise<Step> {
  const kind = manifest.kind as KindName;
  if (kind === "Setting") return settingStep(manifest, state);
  const found = state.get(kind, keyOf(manifest));
  const wanted = State.wanted(manifest);
  if (found === undefined) {
    const uploads = await uploadsOf(manifest, [], outside);
    return {
      verdict: "create",
      manifest,
      kind,
      uploads: uploads.missing,
      lock: wanted["lock"] === true,
      start: wanted["start"] === "whenReady",
      lines: Object.entries(wanted).map(([name, value]) => `+ ${name}: ${shown(value)}`),
    };
  }
  const now = await state.members(kind, found, manifest);
  const row = kinds[kind];
  const differing = [...row.changes, ...row.fixed].filter((name) => wanted[name] !== undefined && !equal(wanted[name], now[name]));
  const lines = differing.flatMap((name) => [
    ...(now[name] === undefined ? [] : [`- ${name}: ${shown(now[name])}`]),
    `+ ${name}: ${shown(wanted[name])}`,
  ]);
  const there =
    kind === "SoftwareModule" && wanted["artifacts"] !== undefined
      ? await session.read(r.artifacts.list, { params: { softwareModuleId: found.id } })
      : [];
  const uploads = await uploadsOf(manifest, there, outside);
  const lock = wanted["lock"] === true && found["locked"] !== true;
  // What is started once goes on by itself, or was stopped by somebody: only a rollout that has not begun is started.
  const start = wanted["start"] === "whenReady" && notBegun.has(String(found["status"]));
  const all = [...lines, ...uploads.lines, ...(lock ? ["+ lock: true"] : []), ...(start ? ["+ start: whenReady"] : [])];
  const base = { manifest, kind, found, lines: all };
  const locked = found["locked"] === true && uploads.missing.length > 0;
  if (uploads.differs || locked || differing.some((name) => row.fixed.includes(name))) return { ...base, verdict: "immutable" };
  if (all.length === 0) return { ...base, verdict: "same" };
  return {
    ...base,
    verdict: "update",
    lock,
    start,
    uploads: uploads.missing,
    body: Object.fromEntries(differing.map((name) => [name, wanted[name]])),
  };
}

function settingStep(manifest: Manifest, state: State): Step {
  const current = state.settings[manifest.name];
  if (current === undefined) throw usage(`${manifest.at}: there is no setting ${manifest.name}`);
  const value = manifest.spec["value"];
  if (equal(current.value, value)) return { verdict: "same", manifest, kind: "Setting", lines: [] };
  return {
    verdict: "update",
    manifest,
    kind: "Setting",
    body: { value },
    lines: isSecretSetting(manifest.name) ? ["+ value: …"] : [`- value: ${shown(current.value)}`, `+ value: ${shown(value)}`],
  };
}

/** Compares the files of a module with its artifacts: what is missing is uploaded, what has another content is never replaced. */
async function uploadsOf(
  { spec, folder, at }: Manifest,
  there: readonly ArtifactView[],
  outside: boolean,
): Promise<{ missing: FileUpload[]; lines: string[]; differs: boolean }> {
  const missing: FileUpload[] = [];
  const lines: string[] = [];
  let differs = false;
  for (const { file, name, sha256 } of (spec["artifacts"] ?? []) as { file: string; name?: string; sha256?: string }[]) {
    const filename = name ?? basename(file);
    const path = join(folder, file);
    if (!outside && existsSync(path) && leadsOut(folder, path))
      throw usage(`${at}: ${file} is outside of the folder of this file: --allow-outside takes it all the same`);
    const stored = there.find(({ providedFilename }) => providedFilename === filename);
    // a file that is not here can still be compared by the hash that is written down
    const hash = existsSync(path) ? await sha256Of(path) : sha256;
    if (hash === undefined || (stored === undefined && !existsSync(path))) throw usage(`${at}: there is no file ${file}`);
    if (sha256 !== undefined && hash !== sha256) throw usage(`${at}: ${file} has the SHA-256 ${hash}, not ${sha256}`);
    if (stored === undefined) missing.push({ file: path, filename, sha256: hash });
    else if (stored.hashes.sha256 !== hash) differs = true;
    if (stored?.hashes.sha256 !== hash)
      lines.push(
        ...(stored === undefined ? [] : [`- artifact ${filename}: ${stored.hashes.sha256}`]),
        `+ artifact ${filename}: ${hash} (${file})`,
      );
  }
  return { missing, lines, differs };
}

/** Whether a path leads out of a folder, also by a link: whoever may change a manifest should not choose any file of this machine. */
function leadsOut(folder: string, path: string): boolean {
  const way = relative(realpathSync(folder), realpathSync(path));
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Whether the server has what a file says: texts and numbers are alike, absent is as good as empty, and of objects the members count that the file names,
 * because the server fills in the others.
 */
function equal(wanted: unknown, now: unknown): boolean {
  if (Array.isArray(wanted)) {
    const list = now ?? [];
    return Array.isArray(list) && wanted.length === list.length && wanted.every((one, n) => equal(one, list[n]));
  }
  if (wanted !== null && typeof wanted === "object") {
    if (now === null || typeof now !== "object" || Array.isArray(now)) return false;
    return Object.entries(wanted).every(([name, value]) => equal(value, (now as Record<string, unknown>)[name]));
  }
  return (now === null || typeof now !== "object") && String(wanted ?? "") === String(now ?? "");
}
