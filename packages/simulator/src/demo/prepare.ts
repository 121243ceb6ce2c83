import { randomBytes } from "node:crypto";
import type { Admin, Page } from "./admin.ts";

export interface Target {
  readonly controllerId: string;
  readonly securityToken: string;
}

export interface Artifact {
  readonly id: number;
  readonly providedFilename: string;
  readonly size: number;
  readonly hashes: { readonly sha256: string };
}

export interface Prepared {
  readonly run: string;
  readonly artifact: Artifact;
  readonly setId: number;
  readonly targets: readonly Target[];
  readonly rolloutId: number;
}

export interface DemoPlan {
  readonly devices: number;
  readonly fail: number;
  readonly file: string;
  /** Has these register by themselves; without it the administrator creates all targets. */
  readonly join?: (run: string, ids: readonly string[]) => Promise<unknown>;
  /** The rollout believes no success before the device shows the new version, and stops where too many fall back. */
  readonly careful?: boolean;
}

interface Named {
  readonly id: number;
  readonly name: string;
}

const maxTargets = 500;

/** Prepares everything up to a rollout that waits for its start: sign-in for devices, module, file, set, targets, rollout. */
export async function prepare(admin: Admin, plan: DemoPlan, say: (line: string) => void): Promise<Prepared> {
  const run = `demo-${randomBytes(4).toString("hex")}`;
  await admin.put("system/configs/authentication.targettoken.enabled", { value: true });
  const moduleId = await createNamed(admin, "softwaremodules", { name: `${run}-firmware`, version: "1.0", type: "os" });
  const artifact = await admin.upload<Artifact>(moduleId, plan.file);
  say(`uploaded ${artifact.providedFilename}, ${(artifact.size / 1e6).toFixed(1)} MB, sha256 ${artifact.hashes.sha256.slice(0, 16)}…`);
  const setId = await createNamed(admin, "distributionsets", { name: run, version: "1.0", type: "os", modules: [{ id: moduleId }] });
  const ids = idsOf(run, plan.devices);
  const targetType = plan.careful === true ? await createShowing(admin, run) : undefined;
  // every group has devices of both kinds
  const joining = plan.join === undefined ? [] : ids.filter((_, i) => i % 2 === 1);
  const targets = await createTargets(
    admin,
    ids.filter((_, i) => plan.join === undefined || i % 2 === 0),
    targetType,
  );
  say(`created ${targets.length} targets ${targets[0]?.controllerId} to ${targets.at(-1)?.controllerId}`);
  await plan.join?.(run, joining);
  return { run, artifact, setId, targets, rolloutId: await createRollout(admin, { ...plan, run, setId }) };
}

async function createNamed(
  admin: Admin,
  path: string,
  body: { readonly name: string; readonly [member: string]: unknown },
): Promise<number> {
  const find = async (): Promise<Named[] | undefined> => {
    const { content } = await admin.get<Page<Named>>(`${path}?q=${encodeURIComponent(`name==${body.name}`)}`);
    return content.length === 0 ? undefined : [...content];
  };
  const [made] = await admin.create<Named[]>(path, [body], find);
  if (made === undefined) throw new Error(`POST ${path} answered an empty list`);
  return made.id;
}

function idsOf(run: string, count: number): string[] {
  const digits = String(count - 1).length;
  return Array.from({ length: count }, (_, i) => `${run}-${String(i).padStart(digits, "0")}`);
}

/** Creates a type of targets whose devices show the version of the set as their attribute `sw_version`, as simulated ones do; returns its id. */
async function createShowing(admin: Admin, run: string): Promise<number> {
  const { content } = await admin.get<Page<Named>>(`distributionsettypes?q=${encodeURIComponent("key==os")}`);
  const evidence = [{ attribute: "sw_version", equals: `\${set.version}` }];
  return await createNamed(admin, "targettypes", {
    name: run,
    compatibledistributionsettypes: content.map(({ id }) => ({ id })),
    evidence,
  });
}

async function createTargets(admin: Admin, all: readonly string[], targetType?: number): Promise<Target[]> {
  const targets: Target[] = [];
  for (let from = 0; from < all.length; from += maxTargets) {
    const ids = all.slice(from, from + maxTargets);
    const find = (): Promise<Target[]> => Promise.all(ids.map((id) => admin.get<Target>(`targets/${id}`)));
    const typed = targetType === undefined ? {} : { targetType };
    const bodies = ids.map((controllerId) => ({ controllerId, name: controllerId, ...typed }));
    targets.push(...(await admin.create<Target[]>("targets", bodies, find)));
  }
  return targets;
}

/**
 * Answers the percentage of errors that pauses the rollout: five standard deviations above the requested one in its smallest group, so that only a
 * real problem trips it. Among a few devices a single failure is already a large share.
 */
export function errorLimit(fail: number, devices: number): number {
  const smallest = Math.floor(devices / 10);
  if (smallest < 10) return 100;
  return Math.min(100, Math.max(30, Math.ceil(100 * (fail + 5 * Math.sqrt((fail * (1 - fail)) / smallest)))));
}

/**
 * Without a policy the error condition is there for real problems alone. A careful rollout stops at more than a tenth of errors, and as no group can
 * succeed with so many, the outcome does not depend on which devices are faster.
 */
function thresholds({ careful, fail, devices }: Pick<DemoPlan, "fail" | "devices" | "careful">) {
  const [success, error] = careful === true ? [90, 10] : [50, errorLimit(fail, devices)];
  return {
    successCondition: { condition: "THRESHOLD", expression: String(success) },
    errorCondition: { condition: "THRESHOLD", expression: String(error) },
  };
}

/** Creates three groups that start one after the other. */
async function createRollout(
  admin: Admin,
  of: Pick<DemoPlan, "fail" | "devices" | "careful"> & { run: string; setId: number },
): Promise<number> {
  const rollout = {
    name: of.run,
    description: "Made by npm run demo",
    distributionSetId: of.setId,
    targetFilterQuery: `controllerId==${of.run}-*`,
    type: "forced",
    ...thresholds(of),
    errorAction: { action: "PAUSE", expression: "" },
    groups: [
      { name: "canary", targetPercentage: 10 },
      { name: "early", targetPercentage: 40 },
      { name: "everyone", targetPercentage: 100 },
    ],
    ...(of.careful === true ? { safety: { proof: { graceSeconds: 0, stable: { polls: 2 } } } } : {}),
  };
  const find = async (): Promise<Named | undefined> =>
    (await admin.get<Page<Named>>(`rollouts?q=${encodeURIComponent(`name==${of.run}`)}`)).content[0];
  return (await admin.create<Named>("rollouts", rollout, find)).id;
}
