import { HarrierError } from "@harrier/errors";

/** PostgreSQL's codes for a key that is taken, and for text that no database can hold (NUL, half of a surrogate pair). */
const uniqueViolation = "23505";
const impossibleText = new Set(["22021", "22P02", "22P05"]);

/** Runs a write and says what its refusal means to a caller (contract rollouts.md §2: names are unique per tenant). */
export async function withConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (code === uniqueViolation) throw new HarrierError("entityAlreadyExists", undefined, { cause: error });
    if (impossibleText.has(code))
      throw new HarrierError("constraintViolation", "The text holds characters that cannot be stored.", { cause: error });
    throw error;
  }
}
