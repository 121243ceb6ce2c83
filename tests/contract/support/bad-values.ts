/** Nearly every member rejects these values. */
const oddValues: readonly unknown[] = [
  null,
  true,
  5,
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER + 2,
  "",
  "x",
  "x".repeat(5_000),
  "a\u0000b",
  "\ud800",
  "<b>x</b>",
  "'; drop table x; --",
  [],
  {},
  [[]],
  [null],
  { id: {} },
];

/** These texts are used as query parameters or as parts of a path. */
export const oddTexts: readonly string[] = [
  "",
  " ",
  "abc",
  "-1",
  "1.5",
  "1e5",
  "99999999999999999999",
  "null",
  "x".repeat(5_000),
  "a\u0000b",
  "ü",
  "<b>",
  "';--",
];

/** Yields copies of a JSON value, each with one member replaced by an odd value or left out. */
export function* mutations(value: unknown): Generator<unknown> {
  yield* oddValues;
  yield* within(value);
}

function* within(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const with_ = (replacement: unknown) => value.toSpliced(at, 1, replacement);
      for (const odd of oddValues) yield with_(odd);
      for (const inner of within(item)) yield with_(inner);
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const { [key]: _gone, ...rest } = value as Record<string, unknown>;
    yield rest;
    for (const odd of oddValues) yield { ...rest, [key]: odd };
    for (const inner of within(member)) yield { ...rest, [key]: inner };
  }
}
