import type { Noun } from "../command.ts";
import { artifacts } from "./artifacts.ts";
import { autoAssignments } from "./auto-assignments.ts";
import { catalogue } from "./catalogue.ts";
import { credentials } from "./credentials.ts";
import { insights } from "./insights.ts";
import { installation } from "./installation.ts";
import { people } from "./people.ts";
import { rollouts } from "./rollouts.ts";
import { safetyPolicies } from "./safety-policies.ts";
import { targets } from "./targets.ts";

/** All nouns, in the order of the help. */
export const nouns: readonly Noun[] = [
  ...targets,
  ...catalogue,
  autoAssignments,
  artifacts,
  rollouts,
  safetyPolicies,
  ...people,
  ...credentials,
  ...installation,
  ...insights,
];
