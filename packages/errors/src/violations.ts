/** One thing that is wrong with a request: where, and what. Never the value that was sent, which may be a secret. */
export interface Violation {
  /** Member of the request, e.g. `0.modules.1.id`; "" where the request as a whole is meant. */
  readonly path: string;
  /** What is wrong there, to be read behind the path: `must be a whole number`. */
  readonly problem: string;
  /** Where the text of a body breaks off or goes wrong, counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** An answer tells of this many violations at most, and of no more than these bytes of them together. */
const most = { count: 20, bytes: 2_048 };
/** Names of members are the sender's, so that a path may be as long as a body; a list of allowed words is ours and may be long, too. */
const longest = { path: 200, problem: 400 };

/**
 * `info` of an error that says where and what (spec 000 §7.2): the first violations, as many as fit. The device form of the same are `parameters`
 * (spec 000 §7.2), which `errorBody` makes of them.
 */
export function violationsInfo(violations: readonly Violation[]): { violations: Violation[] } {
  const told: Violation[] = [];
  let bytes = 0;
  for (const { path, problem, ...position } of violations.slice(0, most.count)) {
    const violation = { path: cut(path, longest.path), problem: cut(problem, longest.problem), ...position };
    bytes += Buffer.byteLength(JSON.stringify(violation));
    if (bytes > most.bytes) break;
    told.push(violation);
  }
  return { violations: told };
}

/** The device form of violations: one sentence each. */
export function violationTexts(info: Record<string, unknown> | undefined): string[] {
  const violations = info?.["violations"];
  return Array.isArray(violations) ? violations.map(sentence) : [];
}

function sentence({ path, problem }: Violation): string {
  return `${path === "" ? "request" : path} ${problem}`;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // half a character is no text that JSON can carry
  return `${text
    .slice(0, length - 1)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}
