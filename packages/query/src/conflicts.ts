import { duplicateOf } from "@harrier/db";
import { alreadyExists, HarrierError } from "@harrier/errors";

/** PostgreSQL's codes for conflicts that a statement can have with concurrent ones. */
const uniqueViolation = "23505";
const foreignKeyViolation = "23503";
const lost = new Set(["40001", "40P01"]);
/** The codes for a NUL character, which PostgreSQL cannot store in a text or in JSON. */
const impossibleText = new Set(["22021", "22P05"]);

/**
 * Runs a write and translates violated constraints: a name that is in use (contract management.md §1.7), or a row that another request deleted or
 * locked meanwhile.
 */
export async function withConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === uniqueViolation) throw alreadyExists(duplicateOf(error), error);
    if (code === foreignKeyViolation || lost.has(String(code)))
      throw new HarrierError("concurrentModification", undefined, { cause: error });
    if (impossibleText.has(String(code))) throw new HarrierError("constraintViolation", "Invalid characters in string", { cause: error });
    throw error;
  }
}

const tries = 3;

/** Like `withConflicts`, but it repeats the work if another transaction was faster; it is for whole transactions that read before they write. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await withConflicts(work);
    } catch (error) {
      if (n === tries || !(error instanceof HarrierError) || error.code !== "concurrentModification") throw error;
    }
  }
}
