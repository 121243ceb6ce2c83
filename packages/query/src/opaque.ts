/** Writes values as an opaque text for URLs: a cursor. */
export const writeOpaque = (values: readonly unknown[]): string => Buffer.from(JSON.stringify(values)).toString("base64url");

/** Reads the values of an opaque text; undefined for any other text. What the values are is for the caller to check. */
export function readOpaque(text: string): readonly unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
