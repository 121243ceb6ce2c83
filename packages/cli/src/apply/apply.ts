import { existsSync, writeFileSync } from "node:fs";
import type { RouteRow } from "@harrier/client";
import { ExitError, exit, usage } from "../exit.ts";
import { waitForRollout } from "../rollout-wait.ts";
import { r } from "../routes.ts";
import type { Session } from "../session.ts";
import { uploadFile } from "../upload.ts";
import { type Found, keyOf, kinds, moduleNames } from "./kinds.ts";
import { type Plan, type PlanOptions, planOf, type Step } from "./plan.ts";
import { grantsOf } from "./roles.ts";
import type { State } from "./state.ts";

type Call = (row: RouteRow, options: object) => Promise<unknown>;

const readyMs = 30 * 60_000;

/** Shows what differs, in the form of a unified diff: one head per object and the members, `-` of the server and `+` of the file. */
async function show(session: Session, { steps }: Plan): Promise<void> {
  for (const { verdict, kind, manifest, lines } of steps) {
    if (verdict === "same") continue;
    const heads =
      lines.length === 0 || verdict === "blocked" ? [] : [`--- ${verdict === "create" ? "/dev/null" : "server"}`, `+++ ${manifest.at}`];
    const all = [`${verdict} ${kind} ${keyOf(manifest)}`, ...heads, ...lines];
    await session.print(all.map((line) => `${line}\n`).join(""));
  }
  const count = (verdict: Step["verdict"]) => steps.filter((step) => step.verdict === verdict).length;
  session.note(
    `${count("create")} to create, ${count("update")} to update, ${count("same")} the same, ${count("immutable")} immutable, ${count("blocked")} blocked`,
  );
}

const differs = ({ steps }: Plan): boolean => steps.some(({ verdict }) => verdict !== "same");

/** `diff`: exit 7 if something differs. */
export async function diff(session: Session, paths: readonly string[], options: PlanOptions = {}): Promise<void> {
  const plan = await planOf(session, paths, options);
  await show(session, plan);
  if (differs(plan)) throw new ExitError(exit.differences, "");
}

/** `apply`: creates and updates in the order of the kinds. Where an object is immutable or blocked, nothing at all is done. */
export async function apply(
  session: Session,
  paths: readonly string[],
  { dryRun, exitCode, secretsOut, ...options }: PlanOptions & { dryRun: boolean; exitCode: boolean; secretsOut?: string | undefined },
): Promise<void> {
  if (secretsOut !== undefined && existsSync(secretsOut))
    throw usage(`${secretsOut} is there already: secrets are written into a new file`);
  const plan = await planOf(session, paths, options);
  await show(session, plan);
  if (dryRun) {
    for (const step of plan.steps) if (step.kind === "Rollout" && step.verdict === "create") await preview(session, step, plan.state);
    if (exitCode && differs(plan)) throw new ExitError(exit.differences, "");
    return;
  }
  const names = (verdict: Step["verdict"]) =>
    plan.steps.filter((step) => step.verdict === verdict).map(({ kind, manifest }) => `${kind} ${keyOf(manifest)}`);
  const [immutable, blocked] = [names("immutable"), names("blocked")];
  if (blocked.length > 0) throw new ExitError(exit.signIn, `not permitted: ${blocked.join(", ")}; nothing was done`);
  if (immutable.length > 0)
    throw new ExitError(exit.conflict, `cannot be changed, give it another version or name: ${immutable.join(", ")}; nothing was done`);
  const made = plan.steps.some(({ kind, verdict }) => verdict === "create" && kind !== "Setting" && kinds[kind].secrets !== undefined);
  const secrets = secretsOf(session, made ? secretsOut : undefined);
  for (const step of plan.steps) if (step.verdict !== "same") await perform(session, step, plan.state, secrets);
}

type Keep = (of: string, members: Readonly<Record<string, unknown>>) => Promise<void>;

/** Secrets are shown once, or kept in a file that only its owner reads; an existing file is never written to. */
function secretsOf(session: Session, file: string | undefined): Keep {
  // It is made before anything else is: what could not be kept would be lost.
  if (file !== undefined) writeFileSync(file, "", { flag: "wx", mode: 0o600 });
  return async (of, members) => {
    const text = `${of}:\n${Object.entries(members)
      .map(([name, value]) => `  ${name}: ${String(value)}\n`)
      .join("")}`;
    if (file === undefined) {
      if (!(await session.isRead(text))) throw new ExitError(exit.failed, `the secrets of ${of} could not be shown: make new ones`);
      return;
    }
    writeFileSync(file, text, { flag: "a" });
  };
}

async function perform(session: Session, step: Step, state: State, keep: Keep): Promise<void> {
  const call = session.read.bind(session) as unknown as Call;
  const { kind, manifest, verdict } = step;
  if (kind === "Setting") {
    await call(r.configs.put, { params: { key: manifest.name }, body: step.body });
    return;
  }
  const row = kinds[kind];
  let { found } = step;
  if (verdict === "create") {
    const body = createBody(step, state);
    const made = await call(row.create, { body: row.many ? [body] : body });
    found = (row.many ? (made as Found[])[0] : made) as Found;
    state.put(kind, found);
    const secrets = (row.secrets ?? []).map((name) => [name, (found as Found)[name]]);
    if (secrets.length > 0) await keep(`${kind} ${keyOf(manifest)}`, Object.fromEntries(secrets));
  }
  const { id } = found as Found;
  const params = { [row.param]: (found as Found)[row.ref ?? "id"] as string };
  for (const upload of step.uploads ?? []) await uploadFile(session, { softwareModuleId: id, ...upload });
  const body = { ...step.body, ...(step.lock ? { locked: true } : {}) };
  if (row.update !== undefined && Object.keys(body).length > 0)
    await call(row.update, { params, body: row.updateBody === undefined ? body : row.updateBody(body, state) });
  if (step.start) {
    await waitForRollout(session, id, { wanted: "ready", timeoutMs: readyMs });
    await call(r.rollouts.start, { params: { rolloutId: id } });
  }
  session.note(`${kind} ${keyOf(manifest)}: ${verdict}d`);
}

function createBody({ kind, manifest }: Step, state: State): Record<string, unknown> {
  const { spec, name, version } = manifest;
  const { set, lock: _lock, artifacts: _artifacts, start: _start, modules: _modules, mandatory, optional, setTypes, ...others } = spec;
  const ids = (of: "ModuleType" | "SetType", keys: unknown) =>
    ((keys ?? []) as string[]).map((key) => {
      const type = state.byKey(of, key);
      if (type === undefined) throw new ExitError(exit.notFound, `${manifest.at}: there is no ${of} ${key}`);
      return { id: type.id };
    });
  const body: Record<string, unknown> = { name, ...(version === undefined ? {} : { version }), ...others };
  if (typeof set === "string") body["distributionSetId"] = state.get("DistributionSet", set)?.id;
  if (kind === "Role") body["permissions"] = grantsOf(spec["permissions"], state);
  if (kind === "DistributionSet") body["modules"] = moduleNames(spec).map((key) => ({ id: state.get("SoftwareModule", key)?.id }));
  if (mandatory !== undefined) body["mandatorymodules"] = ids("ModuleType", mandatory);
  if (optional !== undefined) body["optionalmodules"] = ids("ModuleType", optional);
  if (setTypes !== undefined) body["compatibledistributionsettypes"] = ids("SetType", setTypes);
  if (kind === "Rollout" && spec["groups"] === undefined && spec["amountGroups"] === undefined && spec["dynamic"] !== true)
    body["amountGroups"] = 1;
  return body;
}

/** Tells how many targets a rollout would reach; where its set comes with the same files, only how many its query means. */
async function preview(session: Session, step: Step, state: State): Promise<void> {
  const body = createBody(step, state);
  if (body["distributionSetId"] === undefined) {
    const query = body["targetFilterQuery"] as string | undefined;
    const { total } = await session.read(r.targets.list, { query: { limit: 1, ...(query === undefined ? {} : { q: query }) } });
    return session.note(`${step.manifest.name}: ${total} targets match; which of them its set suits is known when the set is there`);
  }
  const { candidates, matched, groups } = await session.read(r.rollouts.preview, { body: body as never });
  session.note(
    `${step.manifest.name}: ${matched} of ${candidates} targets in ${groups.map(({ name, totalTargets }) => `${name} (${totalTargets})`).join(", ")}`,
  );
}
