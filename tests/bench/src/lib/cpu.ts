import { readdirSync, readFileSync } from "node:fs";

/** CPU seconds (user + system) and resident memory of processes are read from /proc. */
const ticksPerSecond = 100;

interface Stat {
  ppid: number;
  seconds: number;
  /** The CPU seconds of children that have ended. */
  endedSeconds: number;
  residentMiB: number;
}

function stat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return {
      ppid: Number(fields[1]),
      seconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      endedSeconds: (Number(fields[13]) + Number(fields[14])) / ticksPerSecond,
      residentMiB: (Number(fields[21]) * 4096) / 2 ** 20,
    };
  } catch {
    return undefined; // the process has ended meanwhile
  }
}

/** Answers the processes with all their children. */
export function descendants(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const s = stat(Number(entry));
    if (!s) continue;
    const list = children.get(s.ppid);
    if (list) list.push(Number(entry));
    else children.set(s.ppid, [Number(entry)]);
  }
  const all: number[] = [];
  const walk = (pid: number): void => {
    all.push(pid);
    for (const child of children.get(pid) ?? []) walk(child);
  };
  for (const pid of roots) walk(pid);
  return all;
}

export interface ProcessGroup {
  name: string;
  /** The processes with all their children: PostgreSQL has a process per connection. */
  pids: readonly number[];
}

/** Reads the CPU seconds used so far per group. A connection that ended between two readings takes its share along; pools keep theirs open. */
export function cpuSeconds(groups: readonly ProcessGroup[]): Map<string, number> {
  return new Map(groups.map((g) => [g.name, sum(descendants(g.pids).map((pid) => stat(pid)?.seconds ?? 0))]));
}

/** Reads the CPU seconds of one process alone, 0 when it has ended. */
export function ownCpuSeconds(pid: number): number {
  return stat(pid)?.seconds ?? 0;
}

/** Reads the CPU seconds per group with all that has ended within it, because autovacuum's workers start and end. */
export function cpuSecondsWithEnded(groups: readonly ProcessGroup[]): Map<string, number> {
  const alive = cpuSeconds(groups);
  for (const { name, pids } of groups) alive.set(name, (alive.get(name) ?? 0) + sum(pids.map((pid) => stat(pid)?.endedSeconds ?? 0)));
  return alive;
}

/** Reads the maximum of resident memory that one process ever had, in MiB. */
export function peakMiB(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib ?? Number.NaN) / 1_024;
}

/** Reads the resident MiB per group; PostgreSQL's shared memory counts once per process that touched it, so its figure is an upper bound. */
export function residentMiB(groups: readonly ProcessGroup[]): Map<string, number> {
  return new Map(groups.map((g) => [g.name, sum(descendants(g.pids).map((pid) => stat(pid)?.residentMiB ?? 0))]));
}

/**
 * Reads the MiB that one process holds, in which memory that processes share counts for each by its part (PSS): the sum over processes is what they
 * hold together.
 */
export function heldMiB(pid: number): number {
  try {
    const kib = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    return Number(kib ?? 0) / 1_024;
  } catch {
    return 0; // the process has ended meanwhile
  }
}

/** Reads the command line of a process; empty when it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

export function difference(after: Map<string, number>, before: Map<string, number>): Map<string, number> {
  return new Map([...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]));
}

export function total(values: Map<string, number>): number {
  return sum([...values.values()]);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
