import {
  checkProvable,
  type Evidence,
  type ForceTypeName,
  type FrozenSafety,
  freezeSafety,
  mergeSafety,
  needsEvidence,
  noPolicy,
  refused,
  type Safety,
} from "@harrier/contracts";
import { type Queryable, run, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Selection } from "../matching/matching.ts";
import { evidenceByType } from "./resolve.ts";
import { countByType, readSafetySources, type SafetySources } from "./safety.sql.ts";

/** What a rollout or auto-assignment says of its policy. */
export interface SafetyRequest {
  tenantId: number;
  setId: number;
  /** What was sent; without it the tenant's default applies. */
  given: Safety | undefined;
  /** The setting `safety.default`. */
  byDefault: string;
  forceType: ForceTypeName;
  /** Whose targets there are now. */
  selection: Selection;
}

const at = "safety";

/**
 * Freezes the policy of a rollout or auto-assignment, and checks that what it asks for can be had (contract beyond.md §1.1, §1.2). Null: none. It takes
 * no round trip without a policy, one with it, and one more where a proof must be possible for every target.
 * @throws entityNotFound (the named policy), constraintViolation (members that contradict each other, proof of what is only downloaded, values of
 * evidence that no device can send, targets without evidence where that is refused)
 */
export async function planSafety(db: Queryable, request: SafetyRequest): Promise<FrozenSafety | null> {
  const { tenantId, setId, given, byDefault, forceType } = request;
  const name = given ? given.policy : byDefault;
  if (given === undefined && byDefault === "") return null;
  const isNamed = name !== undefined && name !== "" && name.toLowerCase() !== noPolicy;
  const sources = await runOne(db, readSafetySources, [tenantId, isNamed ? name : null, setId]);
  if (!sources) throw new Error("sources without a row");
  if (isNamed && sources.named === null) throw entityNotFound("SafetyPolicy", name, given ? `${at}.policy` : undefined);
  const policy = name === undefined || name === "" ? {} : { policy: name };
  const merged = mergeSafety(sources.named ?? {}, { ...given, ...policy });
  // a default is not meant for each rollout alone: where nothing can be proven, it proves nothing
  const { proof, ...rest } = merged;
  const frozen = freezeSafety(given === undefined && forceType === "downloadonly" ? rest : merged, at);
  checkProvable(frozen, forceType, at);
  if (frozen && needsEvidence(frozen)) await checkEvidence(db, request, frozen, sources);
  return frozen;
}

async function checkEvidence(db: Queryable, { selection }: SafetyRequest, { proof }: FrozenSafety, sources: SafetySources): Promise<void> {
  const byType = evidenceByType(sources);
  const wrong = [...byType.values()].some(({ violations }) => violations.length > 0);
  if (!wrong && proof?.fallback !== "refuse") return;
  const counts = await run(db, countByType(selection));
  const evidenceOf = (type: number | null): Evidence | undefined => byType.get(type);
  const violations = counts.flatMap(({ typeId }) => evidenceOf(typeId)?.violations ?? []);
  if (violations.length > 0) throw refused(violations);
  if (proof?.fallback !== "refuse") return;
  const without = counts.reduce((sum, { typeId, n }) => sum + ((evidenceOf(typeId)?.expected.length ?? 0) === 0 ? n : 0), 0);
  if (without > 0) throw refused([{ path: `${at}.proof.fallback`, problem: `refuses ${without} targets without evidence of the version` }]);
}
