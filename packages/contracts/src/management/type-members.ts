import { z } from "zod";
import { audit } from "../link.ts";
import { optionalDescription, requiredName, withoutNulls } from "../values.ts";

/** The members of every type, whatever it is a type of (spec 001 §2.7). */
export const typeMembers = {
  ...audit,
  id: z.int(),
  key: z.string(),
  name: z.string(),
  description: z.string().optional(),
  colour: z.string().optional(),
  deleted: z.boolean(),
};

/** A colour is free text (spec 001 §2.7: a keyword, `rgb(…)`, `#rrggbb`) and has no default. */
export const colour = optionalDescription(16);

/** The creation of a type of modules or sets; the key never changes afterwards (contract management.md §1.6). */
export const typeCreateMembers = { key: requiredName(64), name: requiredName(128), description: optionalDescription(), colour };

/** Everything of a type of modules or sets that can be changed; absent or null members stay as they are (contract management.md §4.4, §4.5). */
export const typeUpdate = z.object({ description: optionalDescription(), colour }).meta({ id: "TypeUpdate" });
export type TypeUpdate = z.output<typeof typeUpdate>;
export const typeUpdateBody = withoutNulls(typeUpdate);
