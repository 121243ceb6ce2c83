import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

/** One running process of the installation, by which the status of the system knows it (contract console.md §3). */
export interface Node {
  /** It is new for each process. */
  readonly id: string;
  readonly host: string;
  /** Version of the service's package. */
  readonly version: string;
  /** Epoch ms. */
  readonly startedAt: number;
}

/** Describes this process; `folder` is that of the service, which holds its package.json. */
export function describeNode(folder: string): Node {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return { id: randomUUID(), host: hostname(), version, startedAt: Math.round(performance.timeOrigin) };
}
