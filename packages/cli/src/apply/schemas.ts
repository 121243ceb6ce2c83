import {
  autoAssignmentCreate,
  distributionSetCreate,
  distributionSetTypeCreate,
  oauth2ClientCreate,
  rolloutCreate,
  rolloutGroupCreate,
  safetyPolicyCreate,
  softwareModuleCreate,
  softwareModuleTypeCreate,
  tagCreate,
  targetFilterCreate,
  targetTypeCreate,
} from "@harrier/contracts";
import { z } from "zod";

const name = z.string().min(1);
const versioned = z.string().regex(/^.+:[^:]+$/, "must be name:version");
const artifact = z.strictObject({
  file: name,
  name: name.optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});
/** A permission, or one that is good for targets of these types only. */
const grant = z.union([name, z.strictObject({ permission: name, targetTypes: z.array(name).max(1_000).optional() })]);
/** Files name modules apart from their version, because versions like 2.10 are easily misread. */
const moduleName = z.union([versioned, z.strictObject({ name, version: name }).transform((one) => `${one.name}:${one.version}`)]);
const setMembers = distributionSetCreate.in;

/**
 * What `spec` may hold per kind: the body of the creation with names instead of ids, and without the name, which is in `metadata`. Unknown members
 * are errors, because a file with a misspelt member would silently say nothing.
 */
export const specs = {
  ModuleType: softwareModuleTypeCreate.omit({ name: true }).strict(),
  SetType: distributionSetTypeCreate
    .omit({ name: true, mandatorymodules: true, optionalmodules: true })
    .extend({ mandatory: z.array(name).optional(), optional: z.array(name).optional() })
    .strict(),
  TargetType: targetTypeCreate
    .omit({ name: true, compatibledistributionsettypes: true })
    .extend({ setTypes: z.array(name).optional() })
    .strict(),
  TargetTag: tagCreate.omit({ name: true }).strict(),
  SetTag: tagCreate.omit({ name: true }).strict(),
  SoftwareModule: softwareModuleCreate
    .omit({ name: true, version: true })
    .extend({ artifacts: z.array(artifact).max(1_000).optional(), lock: z.boolean().optional() })
    .strict(),
  DistributionSet: setMembers
    .omit({ name: true, version: true, modules: true, os: true, runtime: true, application: true, locked: true })
    .extend({ type: name, modules: z.array(moduleName).max(1_000).optional(), lock: z.boolean().optional() })
    .strict(),
  TargetFilter: targetFilterCreate.omit({ name: true }).strict(),
  SafetyPolicy: safetyPolicyCreate.omit({ name: true }).strict(),
  Setting: z.strictObject({ value: z.union([z.string(), z.number(), z.boolean()]) }),
  Role: z.strictObject({ permissions: z.array(grant).max(1_000).optional() }),
  OAuthClient: oauth2ClientCreate.omit({ name: true }).strict(),
  ApiKey: z.strictObject({
    expiresAt: z.union([z.iso.date(), z.iso.datetime({ offset: true })]),
    description: z.string().max(512).optional(),
  }),
  AutoAssignment: autoAssignmentCreate.omit({ name: true, distributionSetId: true }).extend({ set: versioned }).strict(),
  Rollout: rolloutCreate
    .omit({ name: true, distributionSetId: true })
    .extend({
      set: versioned,
      start: z.literal("whenReady").optional(),
      groups: z.array(rolloutGroupCreate.strict()).max(1_000).optional(),
    })
    .strict(),
} as const;

export type KindName = keyof typeof specs;
/** The order of creation: what others name comes first, and so do the settings and policies that guard rollouts. */
export const kindNames = Object.keys(specs) as KindName[];

const threshold = (percent: unknown) => ({ condition: "THRESHOLD", expression: String(percent) });
/** Short words of a rollout and its groups, and the members that they stand for. */
const short: readonly (readonly [word: string, member: string, of: (value: unknown) => unknown])[] = [
  ["filter", "targetFilterQuery", (value) => value],
  ["percent", "targetPercentage", (value) => value],
  ["success", "successCondition", threshold],
  ["error", "errorCondition", threshold],
];

/** Puts the members of the API where a rollout says it in short words: `filter`, and in groups `percent`, `success` and `error`. */
export function expanded(kind: string, spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (kind !== "Rollout") return spec;
  const inMembers = (given: Readonly<Record<string, unknown>>) => {
    const members = { ...given };
    for (const [word, member, of] of short) {
      // both words are a mistake that the check of members finds
      if (members[word] === undefined || members[member] !== undefined) continue;
      members[member] = of(members[word]);
      delete members[word];
    }
    return members;
  };
  const whole = inMembers(spec);
  const { groups } = spec;
  return Array.isArray(groups)
    ? {
        ...whole,
        groups: groups.map((group) => (group !== null && typeof group === "object" ? inMembers(group as Record<string, unknown>) : group)),
      }
    : whole;
}

/** Answers what is wrong with a spec, or undefined. */
export function problemOf(kind: KindName, spec: unknown): string | undefined {
  const result = (specs[kind] as z.ZodType).safeParse(spec);
  if (result.success) return undefined;
  return result.error.issues.map(({ path, message }) => `${["spec", ...path].join(".")}: ${message}`).join("; ");
}

type JsonSchema = Record<string, unknown> & { properties?: Record<string, JsonSchema> };

/** The JSON Schema (2020-12) of a manifest of a kind, for editors and for `explain`. What a schema cannot say, such as a range of codes, is left open. */
export function jsonSchemaOf(kind: KindName, versioned: boolean): JsonSchema {
  const spec = z.toJSONSchema(specs[kind] as z.ZodType, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const { $schema, ...members } = spec;
  const inGroups = (members.properties?.["groups"] as { items?: JsonSchema } | undefined)?.items?.properties;
  if (kind === "Rollout" && members.properties !== undefined) {
    const percent = { type: "number", minimum: 0, maximum: 100 };
    members.properties["filter"] = { type: "string" };
    for (const of of [members.properties, ...(inGroups === undefined ? [] : [inGroups])])
      Object.assign(of, { success: percent, error: percent });
    if (inGroups !== undefined) inGroups["percent"] = percent;
  }
  const text = { type: "string", minLength: 1 };
  const metadata = { name: text, ...(versioned ? { version: text } : {}) };
  return {
    $schema,
    title: kind,
    type: "object",
    properties: {
      apiVersion: { const: "harrier/v1" },
      kind: { const: kind },
      metadata: { type: "object", properties: metadata, required: Object.keys(metadata), additionalProperties: false },
      spec: members,
    },
    required: ["apiVersion", "kind", "metadata", ...((members["required"] as string[] | undefined)?.length ? ["spec"] : [])],
    additionalProperties: false,
  };
}
