import {
  checkProvable,
  type Evidence,
  evidenceInForce,
  type ForceTypeName,
  type FrozenSafety,
  freezeSafety,
  mergeSafety,
  needsEvidence,
  noPolicy,
  refused,
  resolveEvidence,
  resolvePolicy,
  type Safety,
} from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { type AssignmentSafetySources, readAssignmentSafety } from "./assignment-safety.sql.ts";

/** An assignment of one set to one target that may have a policy. */
export interface SafetyItem {
  /** Where the item stands in the request. */
  place: number;
  controllerId: string;
  setId: number;
  type: ForceTypeName;
  safety?: Safety | undefined;
}

/** The policies of a command, as controller takes them: a list without doubles as JSON, and for each item its place in it. */
export interface PlannedSafety {
  safeties?: string;
  indexes: (number | undefined)[];
}

/** One command has at most so many different policies: each is a row that controller keeps. */
const maxPolicies = 100;

/**
 * Makes the policies of an assignment (contract beyond.md §1.1, §1.2). It takes no round trip where no item has one, and one otherwise.
 * @throws entityNotFound (a named policy), constraintViolation (members that contradict each other, proof of what is only downloaded, values of
 * evidence that no device can send, targets without evidence where that is refused)
 */
export async function planAssignmentSafety(
  { db }: { db: Database },
  identity: Identity,
  items: readonly SafetyItem[],
): Promise<PlannedSafety> {
  const asked = items.filter(({ safety }) => safety !== undefined);
  if (asked.length === 0) return { indexes: [] };
  const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
  const names = distinct(asked.map(({ safety }) => nameOf(safety)).filter((name) => name !== undefined));
  const sources = await runOne(db.pool, readAssignmentSafety, [
    identity.tenantId,
    scopeOf(identity, "UPDATE_TARGET"),
    names.map((name) => name.toLowerCase()),
    distinct(asked.map(({ setId }) => setId)),
    distinct(asked.map(({ controllerId }) => controllerId)),
  ]);
  if (!sources) throw new Error("sources without a row");
  const policyOf = policiesFrom(sources);
  const texts = new Map<string, number>();
  const indexes = items.map((item) => {
    const text = policyOf(item);
    if (text !== undefined && !texts.has(text)) texts.set(text, texts.size);
    if (texts.size > maxPolicies) throw refused([{ path: `${item.place}.safety`, problem: `is one of more than ${maxPolicies} policies` }]);
    return text === undefined ? undefined : texts.get(text);
  });
  policyOf.checkRefused();
  return { indexes, ...(texts.size > 0 && { safeties: `[${[...texts.keys()].join(",")}]` }) };
}

const nameOf = (safety: Safety | undefined) => (safety?.policy?.toLowerCase() === noPolicy ? undefined : safety?.policy);

/** Answers what makes the policy of an item as JSON; equal requests are checked once. */
function policiesFrom(sources: AssignmentSafetySources) {
  const typeOf = new Map(sources.targets);
  const rulesOf = new Map<number | null, AssignmentSafetySources["types"][number]["evidence"]>([
    [null, evidenceInForce(sources.evidenceDefault)],
    ...sources.types.map(({ id, evidence }) => [id, evidence] as const),
  ]);
  const frozen = new Map<string, FrozenSafety | null>();
  const evidence = new Map<string, Evidence>();
  const without: number[] = [];

  const freeze = ({ safety = {}, type, place }: SafetyItem): FrozenSafety | null => {
    const key = JSON.stringify([safety, type]);
    const known = frozen.get(key);
    if (known !== undefined) return known;
    const name = nameOf(safety);
    const named = name === undefined ? {} : sources.policies[name.toLowerCase()];
    if (named === undefined) throw entityNotFound("SafetyPolicy", name ?? "", `${place}.safety.policy`);
    const made = freezeSafety(mergeSafety(named, safety), `${place}.safety`);
    checkProvable(made, type, `${place}.safety`);
    frozen.set(key, made);
    return made;
  };

  const evidenceOf = (setId: number, typeId: number | null): Evidence => {
    const key = `${setId}/${typeId}`;
    const facts = sources.facts[setId];
    const rules = rulesOf.get(typeId) ?? [];
    const at = typeId === null ? "evidence.default" : `targettypes.${typeId}.evidence`;
    const found = evidence.get(key) ?? (facts ? resolveEvidence(rules, facts, at) : { expected: [], violations: [] });
    evidence.set(key, found);
    if (found.violations.length > 0) throw refused(found.violations);
    return found;
  };

  const policyOf = (item: SafetyItem): string | undefined => {
    if (item.safety === undefined) return undefined;
    const policy = freeze(item);
    const typeId = typeOf.get(item.controllerId);
    // a target that is unknown gets no action
    if (policy === null || typeId === undefined) return undefined;
    const { expected } = needsEvidence(policy) ? evidenceOf(item.setId, typeId) : { expected: [] };
    if (needsEvidence(policy) && expected.length === 0 && policy.proof?.fallback === "refuse") without.push(item.place);
    return JSON.stringify(resolvePolicy(policy, expected));
  };

  /** Throws if a policy refuses targets, with their number. */
  const checkRefused = (): void => {
    const [first] = without;
    if (first === undefined) return;
    throw refused([
      { path: `${first}.safety.proof.fallback`, problem: `refuses ${without.length} targets without evidence of the version` },
    ]);
  };
  return Object.assign(policyOf, { checkRefused });
}
