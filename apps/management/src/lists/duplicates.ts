import { HarrierError, type Violation, violationsInfo } from "@harrier/errors";

/** Runs a write; if it fails because something exists already, the error names the elements of the request's list (`info.duplicate`). */
export async function placingDuplicates<T>(body: unknown, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw Array.isArray(body) && thrown instanceof HarrierError && thrown.code === "entityAlreadyExists" ? placed(thrown, body) : thrown;
  }
}

function placed(error: HarrierError, body: readonly unknown[]): HarrierError {
  const duplicate = Object.entries((error.info?.["duplicate"] ?? {}) as Record<string, string>);
  if (duplicate.length === 0) return error;
  const exact = placesOf(body, duplicate, (text) => text);
  // Names of tenants are the same in any spelling.
  const places = exact.length > 0 ? exact : placesOf(body, duplicate, (text) => text.toLowerCase());
  const problem = places.length > 1 ? "exists already, or is there more than once" : "exists already";
  const violations: Violation[] = places.map((n) => ({ path: String(n), problem }));
  const info = { ...error.info, ...(violations.length === 0 ? {} : violationsInfo(violations)) };
  return new HarrierError(error.code, error.message, { info, cause: error.cause });
}

function placesOf(body: readonly unknown[], duplicate: readonly [string, string][], fold: (text: string) => string): number[] {
  const same = (item: unknown) =>
    duplicate.every(([member, value]) => {
      const given = (item as Record<string, unknown> | null)?.[member];
      return typeof given === "string" && fold(given) === fold(value);
    });
  return body.flatMap((item, n) => (same(item) ? [n] : []));
}
