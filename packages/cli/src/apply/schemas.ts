import {
  autoAssignmentCreate,
  distributionSetCreate,
  distributionSetTypeCreate,
  rolloutCreate,
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
  AutoAssignment: autoAssignmentCreate.omit({ name: true, distributionSetId: true }).extend({ set: versioned }).strict(),
  Rollout: rolloutCreate
    .omit({ name: true, distributionSetId: true })
    .extend({ set: versioned, start: z.literal("whenReady").optional() })
    .strict(),
  Setting: z.strictObject({ value: z.union([z.string(), z.number(), z.boolean()]) }),
} as const;

export type KindName = keyof typeof specs;
/** The order of creation: what others name comes first. */
export const kindNames = Object.keys(specs) as KindName[];

/** Answers what is wrong with a spec, or undefined. */
export function problemOf(kind: KindName, spec: unknown): string | undefined {
  const result = (specs[kind] as z.ZodType).safeParse(spec);
  if (result.success) return undefined;
  return result.error.issues.map(({ path, message }) => `${["spec", ...path].join(".")}: ${message}`).join("; ");
}
