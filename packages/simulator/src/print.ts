import { type CarefulGroup, type CarefulResult, carefulTable } from "./demo/careful.ts";
import type { DemoResult } from "./demo/demo.ts";
import type { FleetReport } from "./report.ts";

/** One line about a fleet that runs: what has happened since the report before, so many seconds ago, and in all. */
export function statusLine(before: FleetReport, now: FleetReport, span: number): string {
  const polls = ((now.polls - before.polls) / span).toFixed(0);
  const megabytes = ((now.bytes - before.bytes) / span / 1e6).toFixed(1);
  const failures = Object.entries(now.failures).map(([reason, count]) => `${reason}: ${count}`);
  const ends = now.finals.length;
  const trouble = failures.length === 0 ? "" : `  failures ${failures.join(", ")}`;
  return `${now.devices} devices  ${polls} polls/s  ${megabytes} MB/s  reports ${now.reports}  ended ${ends}  retries ${now.retries}${trouble}`;
}

/** Says what the server would have believed, and how far the rollout came instead. */
export function printCareful({ fleet, differences, ok }: DemoResult, careful: CarefulResult, say: (line: string) => void): void {
  say("");
  for (const line of carefulTable(careful)) say(line);
  const sum = (of: (group: CarefulGroup) => number) => careful.groups.reduce((n, group) => n + of(group), 0);
  const [said, fellBack, spared] = [sum((group) => group.saidSuccess), sum((group) => group.fellBack), sum((group) => group.notStarted)];
  say(
    `${said} devices said success, and ${fellBack} of them run the old version: the rollout is ${careful.status}, ${spared} were spared.`,
  );
  for (const line of [...differences, ...fleet.violations].slice(0, 20)) say(`DIFFERENT: ${line}`);
  if (!ok) say("The rollout did not stop by itself before its last group, or the sides do not agree.");
}

/** Says for each group what its devices and the server count, and whether both sides agree. */
export function printResult(result: DemoResult, say: (line: string) => void): void {
  const { fleet, things, groups, differences, seconds: took } = result;
  say(`\n${"group".padEnd(12)}${"devices say".padEnd(28)}API says`);
  for (const { name, tally, api } of groups) {
    const own = `ok ${tally.finished}, failed ${tally.error}`;
    say(`${name.padEnd(12)}${own.padEnd(28)}finished ${api.finished}, error ${api.error}`);
  }
  const share = (fleet.bytes / 1e6).toFixed(0);
  say(
    `${fleet.devices} devices, ${fleet.polls} polls, ${fleet.reports} reports, ${share} MB, ${fleet.retries} retries, ${took.toFixed(1)} s`,
  );
  if (things !== undefined) {
    const megabytes = (things.bytes / 1e6).toFixed(0);
    say(
      `${things.things} things, ${things.got} messages to them, ${things.sent} from them, ${megabytes} MB, ${things.reconnects} reconnects`,
    );
  }
  const violations = [...fleet.violations, ...(things?.violations ?? [])];
  for (const line of [...differences, ...violations].slice(0, 20)) say(`DIFFERENT: ${line}`);
  say(result.ok ? "Both sides agree." : `The sides do not agree: ${differences.length} differences, ${violations.length} violations.`);
}
