import { z } from "zod";
import { audit } from "../link.ts";
import { optionalDescription, optionalName, requiredName } from "../values.ts";
import { colour } from "./type-members.ts";

/** A tag of targets or of distribution sets (spec 001 §2.7); a colour is free text and has no default. */
export const tagMembers = { ...audit, id: z.int(), name: z.string(), description: z.string().optional(), colour: z.string().optional() };

/** The creation of a tag (contract management.md §4.8). */
export const tagCreate = z
  .object({ name: requiredName(128), description: optionalDescription(), colour: optionalName(16) })
  .meta({ id: "TagCreate" });
export type TagCreate = z.output<typeof tagCreate>;

/** The change of a tag; absent or null members stay as they are. */
export const tagUpdate = z.object({ name: optionalName(128), description: optionalDescription(), colour }).meta({ id: "TagUpdate" });
export type TagUpdate = z.output<typeof tagUpdate>;
