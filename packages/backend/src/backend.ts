import {
  backgroundOf,
  countRoundTrips,
  createDatabase,
  createDatabaseState,
  createNodeStatus,
  type Database,
  type DatabaseOptions,
  prepareSchema,
  type ServiceSchema,
  startWhenReadable,
  untilAborted,
} from "@harrier/db";
import { createJobs, type Job, type JobState, type Jobs, type NodeStatus } from "@harrier/jobs";
import {
  type Client,
  createClient,
  createRpcServer,
  type ProtoServiceName,
  parseKeys,
  type RpcServer,
  type RpcServerOptions,
  type ServiceName,
} from "@harrier/rpc";
import {
  backgroundWork,
  type CommonConfig,
  createClockCheck,
  createHttp,
  createMetrics,
  describeNode,
  drainOf,
  type Http,
  type HttpOptions,
  type Log,
  observeStandbyReads,
  type ReadinessChecks,
  type Stoppable,
  tlsOf,
} from "@harrier/service";

/** The settings that every service with a database has. */
export interface BackendConfig extends CommonConfig {
  readonly HARRIER_DATABASE_URL: string;
  /** A standby of that database, for the lists of a service that has the setting. */
  readonly HARRIER_STANDBY_DATABASE_URL?: string | undefined;
  readonly HARRIER_IDENTITY_KEYS: string;
  readonly HARRIER_HTTP_PORT: number;
  readonly HARRIER_GRPC_PORT: number;
}

export interface BackendOptions {
  readonly service: ServiceName;
  readonly config: BackendConfig;
  readonly log: Log;
  readonly schema: Omit<ServiceSchema, "pool">;
  /** The published views of other services that this one reads: it is ready, and reads them in the background, once all of them exist. */
  readonly needs: readonly { schema: string; view: string }[];
  readonly database?: Omit<DatabaseOptions, "url" | "applicationName" | "onConnectionError">;
  /** The connections with which readiness is checked; the default is `pool`. */
  readonly readinessPool?: "pool" | "background";
}

/**
 * What every service with a database is made of: keys, mutual TLS, connections, metrics, servers and clients. What is added last stops first, so a
 * service makes what others need before them.
 */
export interface Backend {
  readonly db: Database;
  /** Background work has connections of its own, so that it neither takes those of requests nor waits for them. */
  readonly background: Database;
  /** The parts so far, for `runService`. */
  readonly parts: readonly Stoppable[];
  /** Adds what has to be stopped, and returns it. */
  add<Part extends Stoppable>(part: Part): Part;
  /** Adds jobs and starts them; nothing waits for their first rounds. */
  run(jobs: ReturnType<Jobs<string>["group"]>): void;
  /** The same for jobs that end when the stop is announced, so that another replica takes over while this one still answers. */
  runUntilDrained(jobs: ReturnType<Jobs<string>["group"]>): void;
  client<Service extends ProtoServiceName>(service: Service, addresses: string): Client<Service>;
  /** Makes the declared jobs of the service; none is started yet. */
  jobs<Name extends string, Deps>(list: Readonly<Record<Name, Job<Deps>>>, deps: Deps): Jobs<Name>;
  /** Makes what the job `node-status` writes: the states of the jobs, and since when events wait for Kafka. */
  nodeStatus(states: () => JobState[], outboxWaitingSince?: () => Promise<number | null>): NodeStatus;
  /** Adds the gRPC server, which does not listen yet; unless `within` is given, what a call begins ends with it. */
  rpc(options?: Pick<RpcServerOptions, "within" | "beforeAnswer">): RpcServer;
  /** Adds the HTTP server, which does not listen yet; its readiness is that of database and clock, and what is given. */
  http(options?: Pick<HttpOptions, "audit" | "limiter" | "restDialect" | "unknownMembers"> & { readiness?: ReadinessChecks }): Http;
  /** Calls `start` once all needed views exist: before this resolves if they do now, otherwise later. */
  whenReadable(start: () => unknown): Promise<void>;
  /** Starts to listen with the servers, in the order in which they were made. */
  listen(): Promise<void>;
}

/** Opens the database of a service and brings its schema up to date. Throws if a key or TLS setting is wrong or the schema cannot be prepared. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const { service, config, log, needs, readinessPool = "pool" } = options;
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, service);
  const tls = tlsOf(config);
  const secure = tls === undefined ? {} : { tls };
  const metrics = createMetrics({ service });
  const standbyUrl = config.HARRIER_STANDBY_DATABASE_URL;
  const db = createDatabase({
    ...options.database,
    url: config.HARRIER_DATABASE_URL,
    ...(standbyUrl === undefined ? {} : { standbyUrl, onRead: observeStandbyReads(metrics.registry, log) }),
    applicationName: `harrier/${service}`,
    onConnectionError: (error) => log.warn({ err: error }, "an idle database connection broke"),
  });
  const background = backgroundOf(db);
  await prepareSchema({ pool: background.pool, ...options.schema });

  const state = createDatabaseState(db[readinessPool], needs);
  const parts: Stoppable[] = [];
  const servers: (() => Promise<unknown>)[] = [];
  const add = <Part extends Stoppable>(part: Part): Part => {
    parts.push(part);
    return part;
  };
  const common = { keys, log, observe: metrics.observeRpc, ...secure } as const;
  const host = config.HARRIER_HTTP_HOST;
  add(db);
  return {
    db,
    background,
    parts,
    add,
    run(jobs) {
      add(jobs);
      void jobs.start();
    },
    runUntilDrained(jobs) {
      add(backgroundWork(jobs));
      void jobs.start();
    },
    client: (name, addresses) => add(createClient(name, { ...common, caller: service, addresses })),
    jobs: (list, deps) => createJobs(list, deps, { log, registry: metrics.registry }),
    nodeStatus: (jobs, outboxWaitingSince) =>
      createNodeStatus({ db: background.pool, node: describeNode(options.schema.folder), service, jobs, outboxWaitingSince }),
    rpc(own = {}) {
      const server = add(createRpcServer({ ...common, service, host, port: config.HARRIER_GRPC_PORT, within: untilAborted, ...own }));
      servers.push(() => server.start());
      return server;
    },
    http({ readiness = {}, ...own } = {}) {
      const checks = {
        database: () => state.missingViews(),
        clock: createClockCheck({ aheadMs: () => state.clockAheadMs(), log }),
        ...readiness,
      };
      const drain = drainOf(config);
      const metricsPort = config.HARRIER_METRICS_PORT;
      const shared = { service, keys, log, metrics, countRoundTrips, drain, metricsPort, ...secure };
      const server = add(createHttp({ ...shared, readiness: checks, ...own }));
      servers.push(() => server.listen(host, config.HARRIER_HTTP_PORT));
      return server;
    },
    async whenReadable(start) {
      add(backgroundWork(await startWhenReadable({ pool: db[readinessPool], needs, start })));
    },
    async listen() {
      for (const listen of servers) await listen();
    },
  };
}
