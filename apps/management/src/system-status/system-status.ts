import type { SystemStatusView } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { nodeStatusEveryMs } from "@harrier/jobs";
import { type NodeRow, readNodes, readQueues } from "./system-status.sql.ts";

/** An installation has some ten processes, and what has died is shown for an hour. */
const maxNodes = 500;
/** An invalid artifact store may leave this many references to be given back; it does not matter how many more there are. */
const maxQueued = 10_000;

/** Answers what runs in this installation and how its background work is (contract console.md §3), as of the last half minute. */
export async function readSystemStatus(deps: { db: Database; now: () => number }): Promise<SystemStatusView> {
  const [nodes, queues] = await Promise.all([
    run(deps.db.pool, readNodes, [3 * nodeStatusEveryMs, maxNodes]),
    run(deps.db.pool, readQueues, [maxQueued]),
  ]);
  return {
    at: deps.now(),
    nodes: nodes.map(nodeJson),
    queues: queues.map(({ oldestAt, ...queue }) => ({ ...queue, oldestAt: oldestAt.getTime() })),
  };
}

function nodeJson({ startedAt, seenAt, migration, outboxWaitingSince, ...node }: NodeRow): SystemStatusView["nodes"][number] {
  return {
    ...node,
    startedAt: startedAt.getTime(),
    seenAt: seenAt.getTime(),
    ...(migration === null ? {} : { migration }),
    ...(outboxWaitingSince === null ? {} : { outboxWaitingSince: outboxWaitingSince.getTime() }),
  };
}
