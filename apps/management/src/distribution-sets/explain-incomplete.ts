import { type Queryable, runOne } from "@harrier/db";
import { HarrierError, setIncomplete } from "@harrier/errors";
import { readSetGaps } from "./distribution-sets.sql.ts";

/** Runs a check that may refuse a set as incomplete, and adds to the error what the set lacks. Only a refusal costs a round trip. */
export async function explainIncomplete<T>(
  db: Queryable,
  { tenantId, id }: { tenantId: number; id: number },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof HarrierError) || thrown.code !== "setIncomplete" || thrown.info !== undefined) throw thrown;
    throw setIncomplete(await runOne(db, readSetGaps, [tenantId, id]), thrown.message);
  }
}
