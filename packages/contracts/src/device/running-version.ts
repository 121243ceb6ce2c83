import { z } from "zod";
import { missingMessage } from "../parse.ts";
import { isStorable } from "../values.ts";

/** An absent name makes another kind of body, whereas null is a text that must not be null (contract device.md §5.4). */
const name = z.preprocess(
  (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value),
  z
    .string({ error: (issue) => (issue.input === null ? missingMessage : undefined) })
    .refine(isStorable, { error: "must not hold characters that cannot be stored", params: { unreadable: true } }),
);

/** The set that a device says it runs, by name and version (contract device.md §5.4). */
export const runningVersionBody = z.object({ name, version: name }).meta({ id: "RunningVersion" });
export type RunningVersion = z.output<typeof runningVersionBody>;
