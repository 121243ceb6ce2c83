import type { z } from "zod";

/** Documents a parameter or member whose schema works on another form, e.g. on the text of a number. */
export function shownAs<T extends z.ZodType>(schema: T, shown: Record<string, unknown>): T {
  return schema.meta({
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, shown);
    },
  });
}
