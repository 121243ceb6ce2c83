import { z } from "zod";

/** Makes a distribution set by its id, with the words by which people know it; `schema` is its name in the documents. */
export const namedSetAs = (schema: string) => z.object({ id: z.int(), name: z.string(), version: z.string() }).meta({ id: schema });
export const namedSet = namedSetAs("NamedDistributionSet");
export type NamedSet = z.output<typeof namedSet>;

/** A tag of a target, in lists that name the tags of each (contract console.md §1, M03). */
export const namedTag = z.object({ id: z.int(), name: z.string(), colour: z.string().optional() }).meta({ id: "NamedTag" });

/** The target of an action, in lists that name what each row is about (contract console.md §1, M04). */
export const namedTarget = z.object({ controllerId: z.string(), name: z.string().optional() }).meta({ id: "NamedTarget" });

/** The group of a rollout that an action belongs to (contract console.md §1, M04). */
export const namedGroup = z.object({ id: z.int(), name: z.string() }).meta({ id: "NamedRolloutGroup" });
