import { z } from "zod";

/** A link of an answer: an absolute address, sometimes with a name (spec 001 §2). */
export const link = z.object({ href: z.string(), name: z.string().optional() }).meta({ id: "Link" });
export type Link = z.output<typeof link>;

/** Makes `_links` with these relations, each of which may be missing, because lists carry fewer than single answers. */
export function links<K extends string>(...names: readonly K[]) {
  const members = Object.fromEntries(names.map((name) => [name, link.optional()])) as Record<K, z.ZodOptional<typeof link>>;
  return z.object(members);
}

/** Who created and who last changed a row (spec 001 §2); both are set at creation. */
export const audit = {
  createdBy: z.string(),
  createdAt: z.int(),
  lastModifiedBy: z.string(),
  lastModifiedAt: z.int(),
};
