import type { Violation } from "@harrier/errors";
import { z } from "zod";
import { arrayUpTo } from "./arrays.ts";
import type { ExpectedAttribute } from "./safety-policy.ts";
import { requiredText } from "./values.ts";

/** An attribute of a device has a key and a value of at most so many characters (contract device.md). */
const maxLength = 128;
/** A text before its names are replaced. */
const maxTemplate = 512;

const key = `[^\${}]{1,128}`;
/** The names that a text may hold, and the groups that say what each stands for. */
const nameForms = [
  /^set\.(?<of>name|version)$/,
  new RegExp(`^set\\.metadata\\.(?<metadata>${key})$`),
  /^module\.(?<module>[^${}]{1,64}?)\.(?<of>name|version)$/,
  new RegExp(`^module\\.(?<module>[^\${}]{1,64}?)\\.metadata\\.(?<metadata>${key})$`),
];

const placeholders = /\$\{([^{}]*)\}/g;

/** What a name in a text stands for. */
interface Named {
  /** The key of a module's type; absent, the set itself. */
  module?: string | undefined;
  of?: "name" | "version" | undefined;
  metadata?: string | undefined;
}

function readName(name: string): Named | undefined {
  for (const form of nameForms) {
    const groups = form.exec(name)?.groups;
    if (groups) return groups as Named;
  }
  return undefined;
}

/** Whether everything in `${}` is a name that there is; a lone `${` is none. */
function isTemplate(text: string): boolean {
  const rest = text.replace(placeholders, (all, name: string) => (readName(name) ? "" : all));
  return !rest.includes("${");
}

/** A rule that says what a device of a type shows when it runs a set (contract beyond.md §1.2). */
export const evidenceRule = z
  .object({
    attribute: requiredText(maxLength),
    equals: requiredText(maxTemplate).refine(isTemplate, "names something in braces that is neither of the set nor of a module"),
    match: z.enum(["exact", "prefix"]).default("exact"),
  })
  .meta({ id: "EvidenceRule" });
export type EvidenceRule = z.output<typeof evidenceRule>;

/** All rules of a target type must hold. */
export const evidenceRules = arrayUpTo(8, evidenceRule);

/** What rules may name of a set. Of several modules of one type the first counts. */
export interface SetFacts {
  readonly name: string;
  readonly version: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modules: Readonly<Record<string, ModuleFacts>>;
}

export interface ModuleFacts {
  readonly name: string;
  readonly version: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What a device must show, and the rules whose value no device can send. */
export interface Evidence {
  readonly expected: ExpectedAttribute[];
  readonly violations: Violation[];
}

/**
 * Replaces the names in the rules of a target type by what a set has. A rule that names a module or metadata that the set lacks drops out, because
 * one type takes sets of several kinds.
 * @param at - where the rules are, for the violations of values that are empty or too long
 */
export function resolveEvidence(rules: readonly EvidenceRule[], facts: SetFacts, at: string): Evidence {
  const expected: ExpectedAttribute[] = [];
  const violations: Violation[] = [];
  for (const [n, { attribute, equals, match }] of rules.entries()) {
    const value = valueFor(equals, facts);
    if (value === undefined) continue;
    if (value.length === 0 || value.length > maxLength) {
      const problem = `has ${value.length} characters for this distribution set, must have 1 to ${maxLength}`;
      violations.push({ path: `${at}.${n}.equals`, problem });
    } else expected.push({ key: attribute, value, match });
  }
  return { expected, violations };
}

function valueFor(template: string, facts: SetFacts): string | undefined {
  let lacks = false;
  const value = template.replace(placeholders, (_, name: string) => {
    const found = factOf(readName(name), facts);
    lacks ||= found === undefined;
    return found ?? "";
  });
  return lacks ? undefined : value.trim();
}

function factOf(named: Named | undefined, facts: SetFacts): string | undefined {
  const owner = named?.module === undefined ? facts : own(facts.modules, named.module);
  if (named?.metadata !== undefined) return own(owner?.metadata, named.metadata);
  return named?.of && owner?.[named.of];
}

/** A key that comes from a request must not find what every object inherits. */
function own<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Reads the rules of the setting `evidence.default`, which is a JSON text; empty means none. @throws what is wrong with it */
export function readEvidenceSetting(text: string): EvidenceRule[] {
  if (text === "") return [];
  return evidenceRules.parse(JSON.parse(text));
}

/** The rules that are in force: one that was stored and cannot be read counts as none. */
export function evidenceInForce(text: string | null): EvidenceRule[] {
  try {
    return readEvidenceSetting(text ?? "");
  } catch {
    return [];
  }
}
