import type { Stack } from "@harrier/stack";
import type { Api } from "./api.ts";
import type { ProcessGroup } from "./cpu.ts";
import type { Report } from "./report.ts";

export interface Options {
  devices: number;
  targets: number;
  rounds: number;
  /** The number of targets that queries search. */
  fleet: number;
  /** The size of the file that is transferred, in MiB. */
  mebibytes: number;
}

export interface Bench {
  stack: Stack;
  api: Api;
  options: Options;
  report: Report;
  /** Returns the processes of every service and of the database, for CPU and memory. */
  groups(): ProcessGroup[];
}
