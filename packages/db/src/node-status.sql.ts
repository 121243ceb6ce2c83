import { type Queryable, run, statement } from "./statement.ts";

/** A process of an installation and what its jobs last did. Times are epoch ms. */
export interface NodeRecord {
  readonly id: string;
  readonly service: string;
  readonly host: string;
  readonly version: string;
  readonly startedAt: number;
  /** When the oldest event was written that has not reached Kafka; null where none waits, or nobody sends them. */
  readonly outboxWaitingSince?: number | null | undefined;
  /** An array of JSON objects, one per job. */
  readonly jobs: readonly object[];
}

/** Processes that have died are shown for an hour, in which somebody can wonder where they went. */
const record = statement<
  [
    id: string,
    service: string,
    host: string,
    version: string,
    startedAt: number,
    migration: boolean,
    waitingSince: number | null,
    jobs: string,
  ],
  never
>(
  "db.record_node",
  `with gone as (delete from nodes where seen_at < now() - interval '1 hour' and id <> $1)
   insert into nodes (id, service, host, version, started_at, seen_at, migration, outbox_waiting_since, jobs)
   values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), now(),
           case when $6 then (select max(name) from schema_files where folder = 'migrations') end, to_timestamp($7::float8 / 1000), $8::jsonb)
   on conflict (id) do update
     set seen_at = excluded.seen_at, migration = excluded.migration, outbox_waiting_since = excluded.outbox_waiting_since, jobs = excluded.jobs`,
);

const leave = statement<[id: string], never>("db.forget_node", "delete from nodes where id = $1");

/**
 * Records in the table `nodes` of the caller's schema that a process is there, in one round trip. `ownSchema` says that the process works on this
 * schema, so that the newest migration of the schema is recorded with it.
 */
export async function recordNode(db: Queryable, node: NodeRecord, { ownSchema }: { ownSchema: boolean }): Promise<void> {
  const { id, service, host, version, startedAt, outboxWaitingSince, jobs } = node;
  await run(db, record, [id, service, host, version, startedAt, ownSchema, outboxWaitingSince ?? null, JSON.stringify(jobs)]);
}

/** Forgets a process that ends in order, in one round trip. */
export async function forgetNode(db: Queryable, id: string): Promise<void> {
  await run(db, leave, [id]);
}

/** What a process without a schema says of itself, by gRPC. */
export interface GuestRecord extends Omit<NodeRecord, "service" | "outboxWaitingSince" | "jobs"> {
  /** It ends in order. */
  readonly leaves: boolean;
  readonly jobs: readonly GuestJob[];
}

interface GuestJob {
  readonly name: string;
  readonly lastRunAt?: number | undefined;
  readonly failures: number;
  readonly lastError?: string | undefined;
  readonly lastErrorAt?: number | undefined;
  readonly backlog?: number | undefined;
}

/** A service has some ten jobs; what says more is none of this release, and is cut. */
const maxGuestJobs = 100;

/** Records that a process of a service without a schema is there, or forgets one that ends in order (contract console.md, M24). */
export async function recordGuest(db: Queryable, service: string, { leaves, jobs, ...node }: GuestRecord): Promise<void> {
  if (leaves) return forgetNode(db, node.id);
  // a message has members beside these, which say which of the optional ones are there
  const states = jobs.slice(0, maxGuestJobs).map(({ name, lastRunAt, failures, lastError, lastErrorAt, backlog }) => {
    return { name, lastRunAt, failures, lastError, lastErrorAt, backlog };
  });
  await recordNode(db, { ...node, service, jobs: states }, { ownSchema: false });
}

interface NodeStatusOptions {
  readonly db: Queryable;
  readonly node: Pick<NodeRecord, "id" | "host" | "version" | "startedAt">;
  readonly service: string;
  /** What the jobs of this process last did. */
  readonly jobs: () => readonly object[];
  /** Answers since when events wait for Kafka, epoch ms. */
  readonly outboxWaitingSince?: (() => Promise<number | null>) | undefined;
}

/** Makes what a service with a schema gives to its job `node-status`. */
export function createNodeStatus(options: NodeStatusOptions): { record(): Promise<void>; leave(): Promise<void> } {
  const { db, node, service, jobs, outboxWaitingSince } = options;
  return {
    record: async () =>
      recordNode(db, { ...node, service, jobs: jobs(), outboxWaitingSince: await outboxWaitingSince?.() }, { ownSchema: true }),
    leave: () => forgetNode(db, node.id),
  };
}
