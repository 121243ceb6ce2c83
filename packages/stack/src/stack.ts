import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseService } from "@harrier/db";
import { childEnv, type EnvOf, type Plan, type Replica } from "./child-env.ts";
import { adminPassword, checkDataDir, type DataDir, openDataDir } from "./data-dir.ts";
import { checkDatabase, openDatabase, type StackDatabase } from "./database.ts";
import { allocator, heapOf } from "./heap.ts";
import { freePorts, isPortFree } from "./ports.ts";
import { askReady, type ReadinessTls } from "./readiness.ts";
import { type ServiceName, serviceNames } from "./services.ts";
import type { AmqpSettings, DatabaseSettings, S3Settings } from "./settings.ts";
import { StartError } from "./start-error.ts";
import { SERVICES_LIMIT_MS, stopAll } from "./stop-all.ts";
import { appMain, consoleDir, Supervised } from "./supervised.ts";

export interface StackOptions {
  /** Everything that is kept: database, artifacts, secrets, logs. */
  dataDir: string;
  /** The gateway's port on 127.0.0.1; 0 takes a free one. */
  httpPort: number;
  /** The default is one of each. Only the first gateway has `httpPort`. */
  replicas?: Partial<Record<ServiceName, number>>;
  adminPassword?: string;
  /** The default is embedded. A string is one server that may be set up. */
  database?: DatabaseSettings | string;
  kafkaBrokers?: string;
  s3?: S3Settings;
  /** Without it there is no messaging. */
  amqp?: AmqpSettings;
  /** Uploads leave so many bytes free on the disk of the data directory. */
  storageReserve?: number;
  /** Events are kept for so many days (2). */
  eventDays?: number;
  /** Files that no artifact has any more are kept for so many days (0). */
  artifactKeepDays?: number;
  logLevel?: string;
  /** The collector that gets the traces of requests. */
  otlpUrl?: string;
  /** How unknown members of a request are handled: `warn`, `refuse` or `ignore`. */
  unknownMembers?: string;
  /** It is added to the gateways' environment. */
  gateway?: Readonly<Record<string, string>>;
  /** It is added to the controllers' environment. */
  controller?: Readonly<Record<string, string>>;
  /** It is added to the environment of management's replicas. */
  management?: Readonly<Record<string, string>>;
  /** It is added to every service's environment. */
  env?: Readonly<Record<string, string>>;
  /** It is added only to the environment of one service's replicas, or of one replica (`gateway-1`). */
  envOf?: EnvOf;
  /**
   * The services speak mutual TLS with each other, each with its own certificate (HARRIER_TLS_* in `envOf`). Their addresses are https, and
   * readiness is requested with this certificate. The gateway's own port stays plain.
   */
  tls?: ReadinessTls;
  /** The programs (`main.js`) of services that are not those of this checkout, above all those of another release. */
  programs?: Partial<Readonly<Record<ServiceName, string>>>;
  /** HARRIER_FAULT by replica (`controller-0`), for its first life only: a restarted process has no fault. */
  faults?: Readonly<Record<string, string>>;
  /** It shows deaths, restarts and the services' warnings to a user. */
  print?: (line: string) => void;
  startLimitMs?: number;
  /** It ends a start that is in progress: what was started is stopped again, and `startStack` rejects. */
  signal?: AbortSignal;
}

export interface RunningService extends Replica {
  /** A name such as `controller-0`, which is also that of its log file. */
  readonly name: string;
  pid(): number | undefined;
}

export interface Stack {
  readonly baseUrl: string;
  /** Absent if the console is not built, or is switched off. */
  readonly consoleUrl?: string;
  readonly adminUser: string;
  readonly adminPassword: string;
  readonly dataDir: string;
  readonly databaseUrls: Readonly<Record<DatabaseService, string>>;
  /** The database superuser's URL, if it is ours or was given. */
  readonly adminDatabaseUrl?: string;
  readonly services: readonly RunningService[];
  /** Answers what runs now, the database server included (its backends are that process's children). */
  processes(): { name: string; pid: number }[];
  /** Sends a signal, SIGKILL by default. The supervisor then starts the service again. */
  kill(service: ServiceName, index?: number, signal?: NodeJS.Signals): void;
  /** Ends a replica in order and restarts it, with a fault for that life if given; resolves when it serves. */
  restart(service: ServiceName, index?: number, fault?: string): Promise<void>;
  /** Ends all replicas of a service, one after the other, and starts them as another program; resolves when they serve. The default is this checkout's. */
  replace(service: ServiceName, main?: string): Promise<void>;
  /** Resolves when the gateway and every replica report ready. */
  ready(limitMs?: number): Promise<void>;
  /** Ends everything within 10 seconds. It may be called again. */
  stop(): Promise<void>;
  /** Ends everything at once. */
  abort(): void;
}

const ADMIN_USER = "admin";
const START_LIMIT_MS = 90_000;
const FAILURES_TO_GIVE_UP = 5;

type Member = RunningService & { child: Supervised };

/** Starts database and services, and resolves when the gateway says that all serve. Throws a StartError for what the user can fix. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const settings: DatabaseSettings =
    typeof options.database === "string" ? { kind: "one", url: options.database } : (options.database ?? { kind: "embedded" });
  const print = options.print ?? (() => undefined);
  const unbuilt = serviceNames.find((service) => !existsSync(options.programs?.[service] ?? appMain(service)));
  if (unbuilt !== undefined) throw new StartError(`apps/${unbuilt} is not built: run "npm run build"`);
  await checkDataDir(options.dataDir);
  if (options.httpPort !== 0 && !(await isPortFree(options.httpPort)))
    throw new StartError(`HARRIER_HTTP_PORT: port ${options.httpPort} of 127.0.0.1 is taken`);
  await checkDatabase(settings);
  const data = await openDataDir(options.dataDir);
  let database: StackDatabase | undefined;
  try {
    database = await openDatabase(settings, options.dataDir, data.secrets, print);
    options.signal?.throwIfAborted();
    const plan = await makePlan(options, data, database);
    const stack = assemble(options, plan, data, database, print);
    await stack.ready(options.startLimitMs ?? START_LIMIT_MS).catch(async (error: unknown) => {
      await stack.stop();
      throw error;
    });
    return stack;
  } catch (error) {
    await database?.stop(1_000);
    data.release();
    throw error;
  }
}

async function makePlan(options: StackOptions, data: DataDir, database: StackDatabase): Promise<Plan> {
  const slots = serviceNames.flatMap((service) => Array.from({ length: replicasOf(options, service) }, (_, index) => ({ service, index })));
  const ports = await freePorts(slots.length * 2);
  const replicas = slots.map(({ service, index }, n): Replica => {
    const http = ports[2 * n] ?? 0;
    if (service === "dmf") return { service, index, httpPort: http };
    if (service === "gateway") return { service, index, httpPort: index === 0 && options.httpPort !== 0 ? options.httpPort : http };
    return { service, index, httpPort: http, grpcPort: ports[2 * n + 1] ?? 0 };
  });
  return {
    replicas,
    secrets: data.secrets,
    adminPassword: adminPassword(data.path, options.adminPassword),
    databaseUrls: database.urls,
    storageDir: join(data.path, "artifacts"),
    ...(existsSync(join(consoleDir, "index.html")) ? { consoleDir } : {}),
    extra: options.env ?? {},
    ...(options.envOf === undefined ? {} : { envOf: options.envOf }),
    ...(options.tls === undefined ? {} : { secure: true }),
    ...(options.kafkaBrokers === undefined ? {} : { kafkaBrokers: options.kafkaBrokers }),
    ...(options.s3 === undefined ? {} : { s3: options.s3 }),
    ...(options.amqp === undefined ? {} : { amqp: options.amqp }),
    ...(options.storageReserve === undefined ? {} : { storageReserve: options.storageReserve }),
    ...(options.eventDays === undefined ? {} : { eventDays: options.eventDays }),
    ...(options.artifactKeepDays === undefined ? {} : { artifactKeepDays: options.artifactKeepDays }),
    ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
    ...(options.otlpUrl === undefined ? {} : { otlpUrl: options.otlpUrl }),
    ...(options.unknownMembers === undefined ? {} : { unknownMembers: options.unknownMembers }),
    ...(options.gateway === undefined ? {} : { gateway: options.gateway }),
    ...(options.controller === undefined ? {} : { controller: options.controller }),
    ...(options.management === undefined ? {} : { management: options.management }),
  };
}

/** Answers how many there are: one of each by default, and no dmf without a message broker. */
function replicasOf(options: StackOptions, service: ServiceName): number {
  if (service === "dmf" && options.amqp === undefined) return 0;
  return options.replicas?.[service] ?? 1;
}

function launchAll(options: StackOptions, plan: Plan, data: DataDir, print: (line: string) => void): Member[] {
  const members: Member[] = [];
  const onChange = () => data.recordChildren(members.flatMap(({ child }) => child.pid ?? []));
  for (const replica of plan.replicas) {
    const name = `${replica.service}-${replica.index}`;
    const child = new Supervised({
      label: name,
      main: options.programs?.[replica.service] ?? appMain(replica.service),
      heap: heapOf[replica.service],
      env: { ...allocator, ...childEnv(plan, replica, process.env) },
      logFile: join(data.path, "logs", `${name}.log`),
      print,
      onChange,
    });
    members.push({ ...replica, name, child, pid: () => child.pid });
  }
  for (const { name, child } of members) {
    const fault = options.faults?.[name];
    child.start(fault === undefined ? {} : { HARRIER_FAULT: fault });
  }
  return members;
}

function assemble(options: StackOptions, plan: Plan, data: DataDir, database: StackDatabase, print: (line: string) => void): Stack {
  const members = launchAll(options, plan, data, print);
  const member = (service: ServiceName, index: number): Member => {
    const found = members.find((one) => one.service === service && one.index === index);
    if (found === undefined) throw new Error(`the stack has no ${service}-${index}`);
    return found;
  };
  const ready = (limitMs = START_LIMIT_MS, among: readonly Member[] = members) =>
    waitUntilReady(among, limitMs, { ...options, dataDir: data.path });
  let stopped: Promise<void> | undefined;
  const baseUrl = `http://127.0.0.1:${member("gateway", 0).httpPort}`;
  const served = plan.gateway?.["HARRIER_CONSOLE"] ?? plan.consoleDir ?? "none";
  return {
    baseUrl,
    ...(served === "none" ? {} : { consoleUrl: `${baseUrl}/console/` }),
    adminUser: ADMIN_USER,
    adminPassword: plan.adminPassword,
    dataDir: data.path,
    databaseUrls: plan.databaseUrls,
    ...(database.adminUrl === undefined ? {} : { adminDatabaseUrl: database.adminUrl }),
    services: members,
    processes: () =>
      [...members.map(({ name, pid }) => ({ name, pid: pid() })), { name: "postgres", pid: database.pid() }].flatMap(({ name, pid }) =>
        pid === undefined ? [] : [{ name, pid }],
      ),
    kill: (service, index = 0, signal = "SIGKILL") => member(service, index).child.kill(signal),
    async restart(service, index = 0, fault) {
      await member(service, index).child.restart(SERVICES_LIMIT_MS, fault === undefined ? {} : { HARRIER_FAULT: fault });
      await ready(START_LIMIT_MS, [member(service, index)]);
    },
    async replace(service, main = appMain(service)) {
      for (const one of members.filter((candidate) => candidate.service === service)) {
        await one.child.replace(main, SERVICES_LIMIT_MS);
        await ready(START_LIMIT_MS, [one]);
      }
    },
    ready,
    stop() {
      stopped ??= stopAll(members, data, database);
      return stopped;
    },
    abort() {
      for (const { child } of members) child.kill("SIGKILL");
    },
  };
}

async function waitUntilReady(members: readonly Member[], limitMs: number, { dataDir, signal, tls }: StackOptions): Promise<void> {
  const limit = Date.now() + limitMs;
  const waiting = new Set(members);
  const answers = new Map<Member, string>();
  for (;;) {
    signal?.throwIfAborted();
    await Promise.all(
      [...waiting].map(async (member) => {
        const answer =
          member.pid() === undefined
            ? { ready: false, text: "" }
            : await askReady(member.httpPort, member.service === "gateway" ? undefined : tls);
        answers.set(member, answer.text);
        if (answer.ready) waiting.delete(member);
      }),
    );
    if (waiting.size === 0) return;
    const failed = [...waiting].find(({ child }) => child.failures >= FAILURES_TO_GIVE_UP);
    const late = Date.now() > limit ? [...waiting][0] : undefined;
    const culprit = failed ?? late;
    if (culprit !== undefined) {
      const said = culprit.child.lastWords;
      const words = said.findLast((line) => /error|cannot/i.test(line)) || said.at(-1) || answers.get(culprit);
      const what = failed !== undefined ? "keeps ending" : `is not ready after ${Math.round(limitMs / 1000)} s`;
      throw new StartError(`${culprit.name} ${what}${words ? ` (${words})` : ""}; see ${join(dataDir, "logs", `${culprit.name}.log`)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
