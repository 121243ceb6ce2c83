import { put } from "./terminal.ts";

/** A drawing: what stays at the top, the lines that may be too many, and what stays at the end. */
export interface Frame {
  readonly head: string;
  readonly lines: readonly {
    readonly text: string /** Nothing happens there any more, so it goes first where there is no room. */;
    readonly isOver: boolean;
  }[];
  readonly foot?: string | undefined;
}

export const linesOf = ({ head, lines, foot }: Frame): string[] => [
  head,
  ...lines.map(({ text }) => text),
  ...(foot === undefined ? [] : [foot]),
];

/** The lines of a frame as far as there are rows: where there are too few, lines that are over go first, then the last ones, and it says how many went. */
export function fitted(frame: Frame, rows: number): string[] {
  const { head, lines, foot } = frame;
  const all = linesOf(frame);
  if (all.length <= rows) return all;
  const room = Math.max(1, rows - (foot === undefined ? 2 : 3));
  const firstOpen = lines.findIndex(({ isOver }) => !isOver);
  const from = Math.max(0, Math.min(firstOpen < 0 ? lines.length : firstOpen, lines.length - room));
  const some = lines.slice(from, from + room).map(({ text }) => text);
  return [head, ...some, `   … ${lines.length - some.length} more`, ...(foot === undefined ? [] : [foot])].slice(0, Math.max(1, rows));
}

/** The rows of the terminal; one that does not know them has 24. */
const terminalRows = (): number => process.stdout.rows || 24;

/**
 * Draws on the alternate screen, each frame in the place of the one before, as far as the terminal has rows; what was on the screen comes back at the end, and
 * below it the last frame as a whole.
 */
export class Screen {
  #last: Frame | undefined;

  async draw(frame: Frame): Promise<void> {
    const enter = this.#last === undefined ? "\x1b[?1049h" : "";
    this.#last = frame;
    const rows = terminalRows();
    const lines = fitted(frame, rows).map((line) => `\x1b[2K${line}`);
    // What stands below is cleared from its own row, because behind a line of full width the cursor still stands on its last character; and behind the last
    // row there is none, a line feed would move everything up.
    await put(`${enter}\x1b[H${lines.join("\n")}${lines.length < rows ? "\n\x1b[J" : ""}`);
  }

  /** Leaves the alternate screen; the last frame stays. */
  async leave(): Promise<void> {
    if (this.#last !== undefined) await put(`\x1b[?1049l${linesOf(this.#last).join("\n")}\n`);
    this.#last = undefined;
  }
}
