import { HarrierError } from "@harrier/errors";

/** The revisions that `If-Match` of a request names; undefined without the header (ADR 40). */
export type IfMatch = readonly number[] | undefined;

/** Makes the condition under which a statement changes a row: it has one of these revisions, or none is demanded. `parameter` is an `int[]` or null. */
export const isRevision = (revision: string, parameter: string): string =>
  `(${parameter}::int[] is null or ${revision} = any (${parameter}::int[]))`;

/** Checks the revision of a row that the transaction holds locked. @throws entityChanged */
export function requireRevision(ifMatch: IfMatch, { revision }: { revision: number }): void {
  if (ifMatch !== undefined && !ifMatch.includes(revision)) throw new HarrierError("entityChanged");
}

/** Answers why a change with the condition of `isRevision` has met no row: there is none, as `missing` says, or it has another revision. */
export async function unmatched(ifMatch: IfMatch, missing: HarrierError, find: () => Promise<object | undefined>): Promise<HarrierError> {
  return ifMatch !== undefined && (await find()) !== undefined ? new HarrierError("entityChanged") : missing;
}
