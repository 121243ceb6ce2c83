import cliProgress from "cli-progress";
import type { GroupView } from "./compare.ts";

export interface Progress {
  show(status: string, groups: readonly GroupView[]): void;
  end(): void;
}

const ended = (group: GroupView): number => {
  const { finished, error, cancelled } = group.totalTargetsPerStatus;
  return finished + error + cancelled;
};

/** Shows bars on a terminal, and a line per change anywhere else. */
export function createProgress(out: NodeJS.WriteStream): Progress {
  return out.isTTY ? createBars(out) : createLines(out);
}

function createBars(out: NodeJS.WriteStream): Progress {
  const format = " {name} {bar} {value}/{total}  ok {ok}  failed {failed}  running {running}  {status}";
  const bars = new cliProgress.MultiBar(
    { format, stream: out, hideCursor: true, clearOnComplete: false },
    cliProgress.Presets.shades_classic,
  );
  const byGroup = new Map<number, cliProgress.SingleBar>();
  return {
    show(_status, groups) {
      for (const group of groups) {
        const { finished, error, running } = group.totalTargetsPerStatus;
        const payload = { name: group.name.padEnd(10), ok: finished, failed: error, running, status: group.status };
        const bar = byGroup.get(group.id) ?? bars.create(group.totalTargets, 0, payload);
        byGroup.set(group.id, bar);
        bar.update(ended(group), payload);
      }
    },
    end: () => bars.stop(),
  };
}

function createLines(out: NodeJS.WriteStream): Progress {
  let last = "";
  return {
    show(status, groups) {
      const parts = groups.map((group) => {
        const { error, running } = group.totalTargetsPerStatus;
        return `${group.name} ${ended(group)}/${group.totalTargets} (failed ${error}, running ${running})`;
      });
      const line = `${status}: ${parts.join("  ")}`;
      if (line !== last) out.write(`${line}\n`);
      last = line;
    },
    end: () => {},
  };
}
