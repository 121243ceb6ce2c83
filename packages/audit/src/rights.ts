import type { Queryable } from "@harrier/db";
import { readRights } from "./rights.sql.ts";

/** Throws, in one line for the operator, if the trail is missing, or if its service could change it and it would prove nothing. */
export async function checkRights(db: Queryable, schema: string): Promise<void> {
  const { missing, owns, changes, above } = await readRights(db, `${schema}_audit`);
  const remedy = "run the set-up of the database as its administrator (docs/operations.md, Audit trail)";
  if (missing.length > 0) throw new Error(`audit: ${schema}_audit lacks ${missing.join(", ")}: ${remedy}`);
  if (above)
    throw new Error(
      `audit: the database role of ${schema} is a superuser or may make roles: give the service a role of its own, and ${remedy}`,
    );
  if (owns.length > 0) throw new Error(`audit: the database role of ${schema} owns ${owns.join(", ")} of its own trail: ${remedy}`);
  if (changes.length > 0) throw new Error(`audit: the database role of ${schema} may change ${changes.join(", ")}: ${remedy}`);
}
