import type { RunningService } from "@harrier/stack";
import { urlOf } from "./replicas.ts";

type Labels = Readonly<Record<string, string>>;

/** Sums up the series of a counter that have these labels, over the given replicas. */
export async function counterOf(replicas: readonly RunningService[], name: string, labels: Labels): Promise<number> {
  const texts = await Promise.all(replicas.map(async (replica) => (await fetch(`${urlOf(replica)}/metrics`)).text()));
  return texts.flatMap((text) => text.split("\n")).reduce((sum, line) => sum + seriesValue(line, name, labels), 0);
}

function seriesValue(line: string, name: string, labels: Labels): number {
  if (!line.startsWith(`${name}{`)) return 0;
  const end = line.lastIndexOf("}");
  const inside = line.slice(name.length, end);
  return Object.entries(labels).every(([key, value]) => inside.includes(`${key}="${value}"`)) ? Number(line.slice(end + 1)) : 0;
}

/** Counts the finished gRPC calls of one method by the metrics of its server. */
export function callsServed(replicas: readonly RunningService[], rpc: string, method: string): Promise<number> {
  return counterOf(replicas, "harrier_rpc_calls_total", { side: "server", rpc, method });
}
