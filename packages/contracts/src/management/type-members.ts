import { z } from "zod";
import { audit } from "../link.ts";
import { optionalDescription, requiredName, withoutNulls } from "../values.ts";

/** Members of every type, whatever it is a type of (spec 001 §2.7). */
export const typeMembers = {
  ...audit,
  id: z.int(),
  key: z.string(),
  name: z.string(),
  description: z.string().optional(),
  colour: z.string().optional(),
  deleted: z.boolean(),
};

/** A colour is free text (spec 001 §2.7: a keyword, `rgb(…)`, `#rrggbb`); none is made up where none is given. */
export const colour = optionalDescription(16);

/** What a type of modules or sets is made of; the key is fixed from then on (contract management.md §1.6). */
export const typeCreateMembers = { key: requiredName(64), name: requiredName(128), description: optionalDescription(), colour };

/** All that can be changed of a type of modules or sets; absent or null members stay as they are (contract management.md §4.4, §4.5). */
export const typeUpdate = z.object({ description: optionalDescription(), colour }).meta({ id: "TypeUpdate" });
export type TypeUpdate = z.output<typeof typeUpdate>;
export const typeUpdateBody = withoutNulls(typeUpdate);
