import { type Evidence, evidenceInForce, type FrozenSafety, resolveEvidence, resolvePolicy, type SetFacts } from "@harrier/contracts";
import { type Queryable, runOne } from "@harrier/db";
import { readSafetySources, type SafetySources } from "./safety.sql.ts";

/** The policy of actions as controller takes it, as JSON: of targets in general, and of targets of some types. */
export interface ResolvedSafety {
  safety?: string;
  safetyOfTypes: { targetTypes: number[]; safety: string }[];
}

const noSet: SetFacts = { name: "", version: "", metadata: {}, modules: {} };

/** What targets of each type must show, by type; null stands for targets without a type. Types that have no rules are missing. */
export function evidenceByType({ facts, types, evidenceDefault }: SafetySources): Map<number | null, Evidence> {
  const set = facts ?? noSet;
  return new Map<number | null, Evidence>([
    [null, resolveEvidence(evidenceInForce(evidenceDefault), set, "evidence.default")],
    ...types.map(({ id, evidence }) => [id, resolveEvidence(evidence, set, `targettypes.${id}.evidence`)] as const),
  ]);
}

/**
 * Makes the policies of actions that are about to start (contract beyond.md §1.2): what the rules of evidence say now is what these actions keep. The
 * rules of targets without a type are the tenant's, those of a type without rules are none. One round trip, and none without a policy.
 */
export async function resolveSafety(
  db: Queryable,
  { tenantId, setId, frozen }: { tenantId: number; setId: number; frozen: FrozenSafety | null },
): Promise<ResolvedSafety> {
  if (frozen === null) return { safetyOfTypes: [] };
  const policyOf = (evidence: Evidence | undefined) => JSON.stringify(resolvePolicy(frozen, evidence?.expected ?? []));
  const rest = policyOf(undefined);
  if (frozen.proof?.require !== "version") return { safety: rest, safetyOfTypes: [] };
  const sources = await runOne(db, readSafetySources, [tenantId, null, setId]);
  if (!sources) throw new Error("sources without a row");
  const byPolicy = new Map<string, number[]>();
  for (const [type, evidence] of evidenceByType(sources)) {
    const policy = policyOf(evidence);
    // targets without a type are named by 0, which no type has
    if (policy !== rest) byPolicy.set(policy, [...(byPolicy.get(policy) ?? []), type ?? 0]);
  }
  return { safety: rest, safetyOfTypes: [...byPolicy].map(([safety, targetTypes]) => ({ targetTypes, safety })) };
}
