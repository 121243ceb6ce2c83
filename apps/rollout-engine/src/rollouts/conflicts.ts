import { duplicateOf } from "@harrier/db";
import { alreadyExists } from "@harrier/errors";

/** PostgreSQL's code for a key that is taken. */
const uniqueViolation = "23505";

/** Runs a write whose only refusal that a caller can meet is a name in use (contract rollouts.md §2: unique per tenant). */
export async function withConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: unknown }).code === uniqueViolation) throw alreadyExists(duplicateOf(error), error);
    throw error;
  }
}
