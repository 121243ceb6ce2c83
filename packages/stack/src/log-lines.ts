// the marks are those of the services' logger
const loudMarks = ["warn", "error", "fatal"].map((level) => ({ level, bytes: Buffer.from(`"level":"${level}"`) }));
const labels: Readonly<Record<string, string>> = { warn: "warning", error: "error", fatal: "fatal" };

const NEWLINE = 0x0a;
const BRACE = 0x7b;

/**
 * Takes a service's output in pieces and shows what a user should see: warnings and errors of its log (one JSON object per line), and every line
 * that is not from the logger (a crash, a warning of Node). Thousands of lines come per second, nearly all of them quiet, so a piece is searched as
 * bytes, and only loud lines are cut out and parsed.
 */
export function createLoudLines(show: (line: string) => void): { take(piece: Buffer): void } {
  let rest: Buffer = Buffer.alloc(0);
  return {
    take(piece) {
      const end = piece.lastIndexOf(NEWLINE);
      if (end === -1) {
        rest = Buffer.concat([rest, piece]);
        return;
      }
      const whole = Buffer.concat([rest, piece.subarray(0, end + 1)]);
      rest = Buffer.from(piece.subarray(end + 1));
      if (!loudMarks.some(({ bytes }) => whole.includes(bytes)) && !holdsForeignLine(whole)) return;
      for (const line of whole.toString().split("\n")) {
        const text = textOf(line);
        if (text !== undefined) show(text);
      }
    },
  };
}

/** Whether some line does not begin with a brace. */
function holdsForeignLine(lines: Buffer): boolean {
  for (let at = 0; at < lines.length; at = lines.indexOf(NEWLINE, at) + 1) {
    if (lines[at] !== BRACE && lines[at] !== NEWLINE) return true;
  }
  return false;
}

function textOf(line: string): string | undefined {
  if (line === "") return undefined;
  if (!line.startsWith("{")) return line;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: string; msg?: string; err?: { message?: string } };
    const label = labels[level ?? ""];
    if (label === undefined) return undefined;
    const cause = err?.message !== undefined && err.message !== msg ? `: ${err.message}` : "";
    return `${label}: ${msg ?? ""}${cause}`;
  } catch {
    return undefined; // a crash cut the line off
  }
}
