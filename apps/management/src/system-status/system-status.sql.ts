import { statement } from "@harrier/db";

interface StoredJob {
  name: string;
  lastRunAt?: number;
  failures: number;
  lastError?: string;
  lastErrorAt?: number;
  backlog?: number;
}

export interface NodeRow {
  id: string;
  service: string;
  host: string;
  version: string;
  startedAt: Date;
  seenAt: Date;
  up: boolean;
  migration: string | null;
  outboxWaitingSince: Date | null;
  jobs: StoredJob[];
}

const columns = "id, service, host, version, started_at, seen_at, migration, outbox_waiting_since, jobs";

/**
 * Reads the processes of all services, those of the same service the youngest first, in one round trip. A process that has not been heard of for
 * three of its periods is not up.
 */
export const readNodes = statement<[silentMs: number, limit: number], NodeRow>(
  "management.read_nodes",
  `select n.id, n.service, n.host, n.version, n.started_at as "startedAt", n.seen_at as "seenAt",
          n.seen_at > now() - $1::int * interval '1 millisecond' as up, n.migration, n.outbox_waiting_since as "outboxWaitingSince", n.jobs
     from (select ${columns} from nodes
           union all select ${columns} from controller.nodes_v1
           union all select ${columns} from artifact_store.nodes_v1
           union all select ${columns} from rollout_engine.nodes_v1) n
    order by n.service, n.started_at desc, n.id limit $2`,
);

export interface QueueRow {
  kind: string;
  waiting: number;
  failing: number;
  oldestAt: Date;
}

/** Counts the background operations of all tenants that have not ended, by kind, of each table the first $1 by what is due, in one round trip. */
export const readQueues = statement<[limit: number], QueueRow>(
  "management.read_queues",
  `select kind, count(*)::int as waiting, count(*) filter (where attempts > 0)::int as failing, min(created_at) as "oldestAt"
     from ((select kind, attempts, created_at from background_operations where ended_at is null order by due_at limit $1)
           union all (select kind, attempts, created_at from operations order by due_at limit $1)) waiting
    group by kind order by kind`,
);
