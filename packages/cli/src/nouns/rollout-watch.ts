import type { RolloutView } from "@harrier/contracts";
import { text, type Verb } from "../command.ts";
import { cut } from "../output/formats.ts";
import { type Frame, linesOf, Screen } from "../output/screen.ts";
import { oneLine, redraws, terminalWidth } from "../output/terminal.ts";
import { idOf } from "../resolve.ts";
import { readTree, withoutPace } from "../rollout-tree.ts";
import { waitForRollout } from "../rollout-wait.ts";
import { durationOf } from "../session.ts";
import type { Entity } from "./entity.ts";

/** `rollout watch`: the tree of a rollout, redrawn in a terminal and printed in a pipe when it changes. */
export const watchVerb = (rolloutEntity: Entity): Verb => ({
  name: "watch",
  summary: "Show a rollout with its groups until it has ended: exit 0 finished, 2 stopped, 3 not in time",
  args: "<name>",
  completes: [rolloutEntity],
  options: [["--timeout <duration>", "watch no longer; 24h by default"]],
  async run(session, [name = ""], options) {
    const rolloutId = await idOf(session, rolloutEntity, name);
    const screen = new Screen();
    let last = "";
    const seen = async (rollout: RolloutView) => {
      const frame = inTerminal(await readTree(session, rollout));
      const lines = linesOf(frame);
      if (redraws()) await screen.draw(frame);
      else if (withoutPace(lines) !== last) await session.print(`${lines.join("\n")}\n`);
      last = withoutPace(lines);
    };
    const timeoutMs = durationOf(text(options, "timeout") ?? "24h", "--timeout");
    try {
      await waitForRollout(session, rolloutId, { wanted: "finished", timeoutMs, seen });
    } finally {
      await screen.leave();
    }
  },
});

/** Each line as one line of the terminal: one that the terminal breaks would be two when they are drawn over. */
function inTerminal({ head, lines, foot }: Frame): Frame {
  const width = terminalWidth() ?? Number.POSITIVE_INFINITY;
  const one = (line: string) => cut(oneLine(line), width);
  return {
    head: one(head),
    lines: lines.map(({ text: line, isOver }) => ({ text: one(line), isOver })),
    foot: foot === undefined ? undefined : one(foot),
  };
}
