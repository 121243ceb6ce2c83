import { stringify } from "yaml";
import { usage } from "../exit.ts";
import { r } from "../routes.ts";
import { isSecretSetting } from "../secret-setting.ts";
import type { Session } from "../session.ts";
import { inBatches } from "./batches.ts";
import { createdGroups, groupSpec } from "./groups.ts";
import { everyOf, type Found, keyOf, kinds } from "./kinds.ts";
import { grantsIn } from "./roles.ts";
import { type KindName, kindNames } from "./schemas.ts";
import { State } from "./state.ts";

type Spec = Record<string, unknown>;
const pick = (found: Found, ...names: readonly string[]): Spec =>
  Object.fromEntries(names.filter((name) => found[name] !== undefined && found[name] !== null).map((name) => [name, found[name]]));

/** Writes the objects of these kinds, or of all, as manifests that `apply` finds to be the same. */
export async function exportKinds(session: Session, given: readonly string[]): Promise<void> {
  for (const kind of given) if (!kindNames.includes(kind as KindName)) throw usage(`there is no kind ${kind}: ${kindNames.join(", ")}`);
  const wanted = given.length === 0 ? kindNames : kindNames.filter((kind) => given.includes(kind));
  const { permissions = [] } = await session.read(r.userinfo.get);
  for (const kind of wanted) {
    const needed = kind === "Setting" ? r.configs.list.permission : kinds[kind].list.permission;
    const lacking = needed.filter((permission) => !permissions.includes(permission));
    if (given.length === 0 && lacking.length > 0) {
      session.note(`${kind} is left out: needs ${lacking.join(" and ")}`);
      continue;
    }
    if (kind === "Setting") await exportSettings(session);
    else await exportKind(session, kind);
  }
}

async function exportSettings(session: Session): Promise<void> {
  for (const [name, { value, global }] of Object.entries(await session.read(r.configs.list))) {
    if (!global && !isSecretSetting(name)) await write(session, "Setting", { name }, { value });
  }
}

async function exportKind(session: Session, kind: Exclude<KindName, "Setting">): Promise<void> {
  const { versioned } = kinds[kind];
  const sets = kind === "Rollout" || kind === "AutoAssignment" ? new Map<number, string>() : undefined;
  if (sets !== undefined) for await (const set of everyOf(session, "DistributionSet")) sets.set(set.id, keyOf(set));
  const types = kind === "Role" ? await State.ofAll(session, "TargetType") : undefined;
  const described = inBatches(everyOf(session, kind), async (found) => {
    const set = sets?.get(found["distributionSetId"] as number);
    if (sets !== undefined && set === undefined) return { found, spec: undefined };
    return { found, spec: { ...(set === undefined ? {} : { set }), ...(await specOf(session, kind, found, types)) } };
  });
  for await (const { found, spec } of described) {
    if (spec === undefined) session.note(`${kind} ${found.name} is left out: its set is deleted`);
    else await write(session, kind, versioned ? { name: found.name, version: found.version } : { name: found.name }, spec);
  }
}

/** The policy as it was frozen, without its name: the copy holds, whatever has become of the policy, and elsewhere there may be none of that name. */
function safetyOf({ safety }: Found): Spec {
  if (safety === undefined || safety === null) return {};
  const { policy: _policy, ...parts } = safety as Spec;
  return { safety: parts };
}

async function groupsOf(session: Session, rolloutId: number): Promise<Spec> {
  const groups: Found[] = [];
  for await (const group of session.list(r.rollouts.listGroups, { all: true }, { params: { rolloutId } }))
    groups.push(group as unknown as Found);
  return { groups: createdGroups(groups).map(groupSpec) };
}

async function specOf(session: Session, kind: Exclude<KindName, "Setting">, found: Found, types: State | undefined): Promise<Spec> {
  const lock = found["locked"] === true ? { lock: true } : {};
  switch (kind) {
    case "ModuleType":
      return pick(found, "key", "description", "colour", "maxAssignments", "minArtifacts");
    case "SetType": {
      const params = { distributionSetTypeId: found.id };
      const [mandatory, optional] = await Promise.all([
        session.read(r.distributionSetTypes.listMandatory, { params }),
        session.read(r.distributionSetTypes.listOptional, { params }),
      ]);
      return {
        ...pick(found, "key", "description", "colour"),
        mandatory: mandatory.map(({ key }) => key),
        optional: optional.map(({ key }) => key),
      };
    }
    case "TargetType": {
      const types = await session.read(r.targetTypes.listCompatible, { params: { targetTypeId: found.id } });
      return { ...pick(found, "key", "description", "colour", "evidence"), setTypes: types.map(({ key }) => key) };
    }
    case "TargetTag":
    case "SetTag":
      return pick(found, "description", "colour");
    case "SoftwareModule": {
      const artifacts = await session.read(r.artifacts.list, { params: { softwareModuleId: found.id } });
      const files = artifacts.map(({ providedFilename, hashes }) => ({ file: providedFilename, sha256: hashes.sha256 }));
      return {
        ...pick(found, "type", "description", "vendor"),
        ...(found["encrypted"] === true ? { encrypted: true } : {}),
        ...(files.length === 0 ? {} : { artifacts: files }),
        ...lock,
      };
    }
    case "DistributionSet":
      return {
        ...pick(found, "type", "description"),
        modules: ((found["modules"] ?? []) as Found[]).map(({ name, version }) => ({ name, version })),
        ...(found["requiredMigrationStep"] === true ? { requiredMigrationStep: true } : {}),
        ...lock,
      };
    case "TargetFilter":
      return pick(found, "query");
    case "SafetyPolicy":
      return pick(found, "description", "safety");
    case "AutoAssignment":
      return {
        ...pick(found, "description", "targetFilterQuery", "actionType", "weight"),
        ...(found["confirmationRequired"] === true ? { confirmationRequired: true } : {}),
        ...safetyOf(found),
      };
    case "Rollout":
      return {
        ...pick(found, "description", "targetFilterQuery", "type", "weight", ...(found["dynamic"] === true ? ["dynamic"] : [])),
        ...(found["type"] === "timeforced" ? pick(found, "forcetime") : {}),
        ...pick(found, "maintenanceWindow"),
        ...safetyOf(found),
        ...(await groupsOf(session, found.id)),
      };
    case "Role":
      return { permissions: grantsIn((found["permissions"] ?? []) as never, types as State) };
    case "OAuthClient":
      return pick(found, "description", "scopes", "accessTokenTtl");
    case "ApiKey":
      return { ...pick(found, "description"), expiresAt: new Date(found["expiresAt"] as number).toISOString() };
  }
}

function write(session: Session, kind: KindName, metadata: object, spec: Spec): Promise<void> {
  return session.print(`---\n${stringify({ apiVersion: "harrier/v1", kind, metadata, spec })}`);
}
