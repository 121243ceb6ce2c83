/** One thing that is wrong with a request: its place and the problem. It never contains the value that was sent, which may be a secret. */
export interface Violation {
  /** The member of the request, e.g. `0.modules.1.id`; "" stands for the request as a whole. */
  readonly path: string;
  /** The problem, in words that continue the path: `must be a whole number`. */
  readonly problem: string;
  /** The line at which the text of a body ends early or is wrong, counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** An answer lists at most so many violations, and no more than so many bytes of them together. */
const limits = { count: 20, bytes: 2_048 };
/** The sender chooses the names of members, so a path could be as long as a body; a list of allowed values may be long, too. */
const maxLengths = { path: 200, problem: 400 };

/**
 * Makes the `info` of an error from its violations (spec 000 §7.2): the first ones, as many as fit. The device form of them are `parameters` (spec
 * 000 §7.2), which `errorBody` derives.
 */
export function violationsInfo(violations: readonly Violation[]): { violations: Violation[] } {
  const told: Violation[] = [];
  let bytes = 0;
  for (const { path, problem, ...position } of violations.slice(0, limits.count)) {
    const violation = { path: cut(path, maxLengths.path), problem: cut(problem, maxLengths.problem), ...position };
    bytes += Buffer.byteLength(JSON.stringify(violation));
    if (bytes > limits.bytes) break;
    told.push(violation);
  }
  return { violations: told };
}

/** Makes the device form of violations: one sentence each. */
export function violationTexts(info: Record<string, unknown> | undefined): string[] {
  const violations = info?.["violations"];
  return Array.isArray(violations) ? violations.map(sentence) : [];
}

function sentence({ path, problem }: Violation): string {
  return `${path === "" ? "request" : path} ${problem}`;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // half a surrogate pair is no text that JSON can carry
  return `${text
    .slice(0, length - 1)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}
