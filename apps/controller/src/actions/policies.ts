import { resolvedPolicy } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";

/** Returns the text of a policy as it is stored, or null for none; what is no policy is an error of the caller, who resolves and checks them. */
export function policyText(given: string | undefined): string | null {
  return given === undefined || given === "" ? null : JSON.stringify(checked(JSON.parse(given)));
}

interface WithSafety {
  safety?: string;
  safetyOfTypes: readonly { targetTypes: readonly number[]; safety: string }[];
}

/** The policy of a chunk's actions, and of those whose targets have one of the types, type by type. */
export function policiesOf({ safety, safetyOfTypes }: WithSafety): [rest: string | null, types: number[], ofTypes: string[]] {
  const listed = safetyOfTypes.map((of) => ({ types: of.targetTypes, text: policyText(of.safety) ?? "{}" }));
  return [policyText(safety), listed.flatMap(({ types }) => types), listed.flatMap(({ types, text }) => types.map(() => text))];
}

/** Does the same for a list of policies. */
export function policyTexts(given: string | undefined): string | null {
  if (given === undefined || given === "") return null;
  const listed: unknown = JSON.parse(given);
  if (!Array.isArray(listed)) throw new HarrierError("internal", "policies that are no list");
  return JSON.stringify(listed.map(checked));
}

function checked(value: unknown) {
  const parsed = resolvedPolicy.safeParse(value);
  if (!parsed.success) throw new HarrierError("internal", `no resolved policy: ${parsed.error.message}`);
  return parsed.data;
}
