/** Real bodies are four levels deep; without a limit one could be as deep as it is long. */
const deepest = 64;

/** Whether a parsed body could come from JSON, nested no deeper than any of ours; CBOR also has byte strings. */
export function isPlain(value: unknown, left = deepest): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (left === 0 || ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.every((member) => isPlain(member, left - 1));
  for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], left - 1)) return false;
  return true;
}
