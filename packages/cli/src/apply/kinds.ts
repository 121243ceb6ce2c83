import type { RouteRow } from "@harrier/client";
import { r } from "../routes.ts";
import type { Session } from "../session.ts";
import type { Manifest } from "./documents.ts";
import { grantsOf } from "./roles.ts";
import type { KindName } from "./schemas.ts";
import type { State } from "./state.ts";

export type Found = Readonly<Record<string, unknown>> & { readonly id: number; readonly name: string; readonly version?: string };

/** How a kind is read and written; `compared` are the members that a file and an answer have alike. */
export interface KindRow {
  readonly list: RouteRow;
  readonly param: string;
  readonly create: RouteRow;
  readonly many: boolean;
  readonly update?: RouteRow;
  readonly versioned?: true;
  /** Members that an update can change; what else differs is immutable. */
  readonly changes: readonly string[];
  readonly fixed: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** The member that the path takes; `id` by default. */
  readonly ref?: string;
  /** The list is an array, which the server does not search. */
  readonly whole?: true;
  /** The body of an update, where it is not an object of the members that differ. */
  readonly updateBody?: (members: Readonly<Record<string, unknown>>, state: State) => unknown;
  /** Members of the answer to a creation that are shown once. */
  readonly secrets?: readonly string[];
}

const described = ["description", "colour"] as const;
/** What a rollout says for those of its groups that do not say it themselves; the server keeps it with the groups alone. */
export const ofGroups = ["successCondition", "successAction", "errorCondition", "errorAction", "confirmationRequired"] as const;

/** Settings have rows of their own (plan.ts). */
export const kinds: Readonly<Record<Exclude<KindName, "Setting">, KindRow>> = {
  ModuleType: {
    list: r.softwareModuleTypes.list,
    param: "softwareModuleTypeId",
    create: r.softwareModuleTypes.create,
    many: true,
    update: r.softwareModuleTypes.update,
    changes: [...described, "minArtifacts"],
    fixed: ["key", "maxAssignments"],
  },
  SetType: {
    list: r.distributionSetTypes.list,
    param: "distributionSetTypeId",
    create: r.distributionSetTypes.create,
    many: true,
    update: r.distributionSetTypes.update,
    changes: described,
    fixed: ["key", "mandatory", "optional"],
  },
  TargetType: {
    list: r.targetTypes.list,
    param: "targetTypeId",
    create: r.targetTypes.create,
    many: true,
    update: r.targetTypes.update,
    changes: [...described, "evidence"],
    fixed: ["key", "setTypes"],
  },
  TargetTag: {
    list: r.targetTags.list,
    param: "targetTagId",
    create: r.targetTags.create,
    many: true,
    update: r.targetTags.update,
    changes: described,
    fixed: [],
  },
  SetTag: {
    list: r.distributionSetTags.list,
    param: "distributionsetTagId",
    create: r.distributionSetTags.create,
    many: true,
    update: r.distributionSetTags.update,
    changes: described,
    fixed: [],
  },
  SoftwareModule: {
    list: r.softwareModules.list,
    param: "softwareModuleId",
    create: r.softwareModules.create,
    many: true,
    update: r.softwareModules.update,
    versioned: true,
    changes: ["description", "vendor"],
    fixed: ["type", "encrypted"],
  },
  DistributionSet: {
    list: r.distributionSets.list,
    param: "distributionSetId",
    create: r.distributionSets.create,
    many: true,
    update: r.distributionSets.update,
    versioned: true,
    changes: ["description", "requiredMigrationStep"],
    fixed: ["type", "modules"],
  },
  TargetFilter: {
    list: r.targetFilters.list,
    param: "filterId",
    create: r.targetFilters.create,
    many: false,
    update: r.targetFilters.update,
    changes: ["query"],
    fixed: [],
  },
  SafetyPolicy: {
    list: r.safetyPolicies.list,
    whole: true,
    param: "safetyPolicyId",
    create: r.safetyPolicies.create,
    many: true,
    update: r.safetyPolicies.update,
    changes: ["description", "safety"],
    fixed: [],
  },
  AutoAssignment: {
    list: r.autoAssignments.list,
    param: "autoAssignmentId",
    create: r.autoAssignments.create,
    many: false,
    update: r.autoAssignments.update,
    changes: ["description"],
    fixed: ["targetFilterQuery", "set", "actionType", "weight", "startAt", "confirmationRequired", "safety"],
  },
  Rollout: {
    list: r.rollouts.list,
    param: "rolloutId",
    create: r.rollouts.create,
    many: false,
    update: r.rollouts.update,
    changes: ["description"],
    fixed: [
      ...[
        "targetFilterQuery",
        "set",
        "type",
        "forcetime",
        "startAt",
        "weight",
        "maintenanceWindow",
        "dynamic",
        "groups",
        "amountGroups",
        "safety",
      ],
      ...ofGroups,
    ],
    query: { representation: "full" },
  },
  Role: {
    list: r.roles.list,
    param: "roleId",
    create: r.roles.create,
    many: true,
    update: r.roles.setPermissions,
    updateBody: ({ permissions }, state) => grantsOf(permissions, state),
    changes: ["permissions"],
    fixed: [],
    query: { representation: "full" },
  },
  OAuthClient: {
    list: r.oauth2Clients.list,
    param: "clientId",
    ref: "clientId",
    create: r.oauth2Clients.create,
    many: true,
    update: r.oauth2Clients.update,
    changes: ["description", "scopes", "accessTokenTtl"],
    fixed: [],
    secrets: ["clientId", "clientSecret"],
  },
  ApiKey: {
    list: r.apiKeys.list,
    whole: true,
    param: "apiKeyId",
    create: r.apiKeys.create,
    many: false,
    update: r.apiKeys.update,
    changes: ["description"],
    fixed: ["expiresAt"],
    secrets: ["apiKey"],
  },
};

const batch = 50;

/** A value of `=in=`, in which an asterisk is no wildcard. */
const literal = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

export const keyOf = ({ name, version }: { name: string; version?: string | undefined }): string =>
  version === undefined ? name : `${name}:${version}`;

/** Walks the objects of a kind that are not deleted, all of them or those of a query. */
export async function* everyOf(session: Session, kind: Exclude<KindName, "Setting">, q?: string): AsyncGenerator<Found> {
  const { list, query, whole, ref } = kinds[kind];
  const all = whole
    ? ((await session.read(list as never)) as readonly Found[])
    : session.list(
        list as never,
        { all: true, sort: ref === undefined ? "id:ASC" : "name:ASC", ...(q === undefined ? {} : { query: q }) },
        { query: (query ?? {}) as never },
      );
  for await (const one of all) if ((one as Found)["deleted"] !== true) yield one as Found;
}

/** Reads the objects of these names, fifty names a request. */
export async function readByNames(
  session: Session,
  kind: Exclude<KindName, "Setting">,
  names: readonly string[],
): Promise<Map<string, Found>> {
  const { versioned, whole } = kinds[kind];
  const found = new Map<string, Found>();
  const wanted = [...new Set(names)];
  const queries = Array.from({ length: Math.ceil(wanted.length / batch) }, (_, n) => {
    const some = wanted.slice(n * batch, (n + 1) * batch);
    return `name=in=(${some.map(literal).join(",")})`;
  });
  for (const q of whole ? [undefined] : queries) {
    for await (const row of everyOf(session, kind, q)) found.set(keyOf(versioned ? row : { name: row.name }), row);
  }
  return found;
}

/** The names of the entities that manifests name, by kind. */
export function namedIn(manifests: readonly Manifest[]): Map<Exclude<KindName, "Setting">, string[]> {
  const names = new Map<Exclude<KindName, "Setting">, string[]>();
  const add = (kind: Exclude<KindName, "Setting">, ...more: string[]) => names.set(kind, [...(names.get(kind) ?? []), ...more]);
  const bare = (of: string) => of.slice(0, of.lastIndexOf(":"));
  for (const { kind, name, spec } of manifests) {
    if (kind !== "Setting") add(kind as "Rollout", name);
    if (kind === "DistributionSet") add("SoftwareModule", ...moduleNames(spec).map(bare));
    if (typeof spec["set"] === "string") add("DistributionSet", bare(spec["set"]));
  }
  return names;
}

/** The modules of a set's spec as `name:version`. */
export function moduleNames(spec: Manifest["spec"]): string[] {
  const modules = (spec["modules"] ?? []) as (string | { name: string; version: string })[];
  return modules.map((one) => (typeof one === "string" ? one : keyOf(one)));
}
