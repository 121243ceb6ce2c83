import { randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { buffer } from "node:stream/consumers";
import { HarrierError } from "@harrier/errors";
import {
  createRpcServer,
  type Handlers,
  type Identity,
  identityHeaders,
  keyPairs,
  keyPairsOf,
  parseKeys,
  type RequestOf,
  unboundBody,
} from "@harrier/rpc";
import { createLog, type Stoppable } from "@harrier/service";
import { multipart, type RoundTripCounter, startRoundTripCounter } from "@harrier/testkit";
import { seedCatalogue } from "./catalogue.suite.ts";
import { readConfig } from "./config.ts";
import { type Bench, openBench, silentLog, tenantId } from "./testing.suite.ts";
import type { Traffic } from "./traffic/traffic.ts";
import { startArtifactStore } from "./wire.ts";

type AttachRequest = RequestOf<"harrier.management.v1.CatalogueService", "attachArtifact">;
type DownloadsRequest = RequestOf<"harrier.controller.v1.ActionsService", "noteDownloads">;

/** Test doubles of management and controller, which answer the calls of this service over real gRPC and write real artifact rows. */
export interface Neighbours {
  maxBytes: number;
  /** Each error is thrown once, by the next call of its method. */
  readonly failures: { checkUpload: HarrierError[]; attachArtifact: HarrierError[]; noteDownloads: HarrierError[] };
  readonly checked: { moduleId: number; filename: string }[];
  readonly attached: (AttachRequest & { commandId: string; id: number })[];
  readonly noted: DownloadsRequest["downloads"];
  /** Controller waits for this before it answers about downloads; tests replace it to delay the answer. */
  beforeRecorded: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  json(): Record<string, unknown>;
}

export interface Call {
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | AsyncIterable<Buffer>;
  /** The device that calls; without it the caller is the admin with all permissions. */
  readonly controllerId?: string;
  /** The user that calls; "admin" without it. */
  readonly user?: string;
  readonly permissions?: readonly string[];
}

export interface RunningService {
  readonly bench: Bench;
  readonly neighbours: Neighbours;
  /** Counts the round trips that really go to PostgreSQL. */
  readonly counter: RoundTripCounter;
  /** Tests call its `beat` if they do not want to wait for the next round. */
  readonly traffic: Traffic;
  call(method: string, path: string, options?: Call): Promise<Answer>;
  /** Makes a call without reading the answer, so that the test can cut it or read it slowly. */
  open(method: string, path: string, options?: Call): { request: ReturnType<typeof httpRequest>; answer: Promise<IncomingMessage> };
  stop(): Promise<void>;
}

const allKeys = new Map(keyPairs().map((pair) => [pair, `${pair}=k1:${randomBytes(32).toString("base64")}`]));
const keyText = keyPairsOf("artifact-store")
  .map((pair) => allKeys.get(pair))
  .join(";");
/** The keys of all services, for the test doubles. */
const keys = parseKeys([...allKeys.values()].join(";"));
const allPermissions = ["CREATE_REPOSITORY", "READ_REPOSITORY", "DOWNLOAD_REPOSITORY_ARTIFACT"];

/** Sets the limit of the tenant's data volume (null means none). It is in force when the promise resolves. */
export async function limitVolume({ bench, traffic }: RunningService, limit: number | null): Promise<void> {
  await bench.sql("delete from management.quotas");
  if (limit !== null) {
    await bench.sql(
      `insert into management.quotas (tenant_id, key, value, created_by, last_modified_by)
       values ($1, 'DATA_TRAFFIC_PER_MONTH_MAX_BYTES', $2, 'operator', 'operator')`,
      [tenantId, limit],
    );
  }
  await traffic.beat();
}

/** Starts the whole service in this process, with a real database, a real directory, and test doubles of the other services. */
export async function startService(settings: Readonly<Record<string, string | undefined>> = {}): Promise<RunningService> {
  const bench = await openBench();
  await seedCatalogue(bench);
  const neighbours: Neighbours = {
    maxBytes: 100_000_000,
    failures: { checkUpload: [], attachArtifact: [], noteDownloads: [] },
    checked: [],
    attached: [],
    noted: [],
    beforeRecorded: async () => {},
  };
  const host = "127.0.0.1";
  const management = createRpcServer({ service: "management", host, port: 0, keys, log: silentLog });
  management.add("harrier.management.v1.CatalogueService", catalogueOf(bench, neighbours));
  const controller = createRpcServer({ service: "controller", host, port: 0, keys, log: silentLog });
  controller.add("harrier.controller.v1.ActionsService", actionsOf(neighbours));
  // jobs have connections of their own, and run when they like
  const counter = await startRoundTripCounter(bench.database.adminUrl, { without: /\/(background|session)$/ });
  const httpPort = await freePort();
  const config = readConfig({
    HARRIER_HTTP_PORT: String(httpPort),
    HARRIER_GRPC_PORT: String(await freePort()),
    HARRIER_DATABASE_URL: counter.through(bench.database.urlOf("artifact-store")),
    HARRIER_IDENTITY_KEYS: keyText,
    HARRIER_MANAGEMENT_GRPC: `${host}:${await management.start()}`,
    HARRIER_CONTROLLER_GRPC: `${host}:${await controller.start()}`,
    HARRIER_STORAGE_DIR: bench.root,
    ...settings,
  });
  const parts = await startArtifactStore(config, createLog({ service: "artifact-store", level: "silent" }));
  const counting = parts.find((part) => "traffic" in part);
  if (counting === undefined) throw new Error("nobody counts what is sent");
  const open: RunningService["open"] = (method, path, options = {}) => send(httpPort, method, path, options);
  return {
    bench,
    neighbours,
    counter,
    traffic: counting.traffic as Traffic,
    open,
    async call(method, path, options) {
      const answer = await open(method, path, options).answer;
      const body = await buffer(answer);
      return { status: answer.statusCode ?? 0, headers: answer.headers, body, json: () => JSON.parse(body.toString()) };
    },
    async stop() {
      for (const part of parts.toReversed()) await stopOne(part);
      await Promise.all([management.stop(0), controller.stop(0), counter.close()]);
      await bench.dispose();
    },
  };
}

function stopOne(part: Stoppable): unknown {
  if (typeof part === "function") return part();
  return "stop" in part ? part.stop() : part.close();
}

function send(port: number, method: string, path: string, options: Call): ReturnType<RunningService["open"]> {
  const { controllerId, user = "admin", permissions = controllerId === undefined ? allPermissions : [] } = options;
  const identity: Identity = {
    tenantId,
    tenant: "DEFAULT",
    kind: controllerId === undefined ? "user" : "device",
    subject: controllerId ?? user,
    permissions,
    rid: "test",
    baseUrl: "http://public:1",
    audience: "artifact-store",
    method,
    path,
    expiresAt: Date.now() + 10_000,
    caller: "gateway",
    ...(controllerId === undefined ? {} : { controllerId }),
  };
  // the gateway reads a JSON body, and signs for it; what is streamed it only passes on
  const isJson = Buffer.isBuffer(options.body) && options.headers?.["content-type"] === "application/json";
  const content = isJson ? (options.body as Buffer) : options.body === undefined ? undefined : unboundBody;
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    method,
    path,
    headers: { ...identityHeaders(keys, identity, content), ...options.headers },
    agent: false,
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => request.once("response", resolve).on("error", reject));
  answer.catch(() => {}); // a test that cuts the request does not wait for the answer
  void writeBody(request, options.body);
  return { request, answer };
}

async function writeBody(request: ReturnType<typeof httpRequest>, body: Call["body"]): Promise<void> {
  if (body === undefined || Buffer.isBuffer(body)) {
    request.end(body);
    return;
  }
  const closed = new Promise((resolve) => request.once("close", resolve));
  for await (const chunk of body) {
    if (request.destroyed) return;
    if (!request.write(chunk)) await Promise.race([new Promise((resolve) => request.once("drain", resolve)), closed]);
  }
  request.end();
}

function catalogueOf(bench: Bench, neighbours: Neighbours): Handlers<"harrier.management.v1.CatalogueService"> {
  return {
    reserveSet: () => Promise.reject(new Error("not called by this service")),
    async checkUpload({ moduleId, filename }) {
      neighbours.checked.push({ moduleId, filename });
      failOnce(neighbours.failures.checkUpload);
      const taken = await bench.sql("select from management.artifacts where module_id = $1 and filename = $2", [moduleId, filename]);
      if (taken.length > 0) throw new HarrierError("entityAlreadyExists");
      return { maxBytes: neighbours.maxBytes, storageBound: true, storageLeft: neighbours.maxBytes };
    },
    async attachArtifact(request, { commandId = "" }) {
      failOnce(neighbours.failures.attachArtifact);
      const known = neighbours.attached.find((artifact) => artifact.commandId === commandId);
      if (known !== undefined) return { id: known.id, createdBy: "admin", createdAt: 1_700_000_000_999 };
      const id = 1000 + neighbours.attached.length;
      const { moduleId, filename, size, sha1, md5, sha256 } = request;
      // milliseconds are cut and not rounded everywhere, so that they tell the same second
      const rows = await bench.sql(
        `insert into management.artifacts (tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_by, created_at, last_modified_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8, 'admin', '2023-11-14 22:13:20.9996+00', 'admin') on conflict do nothing returning id`,
        [tenantId, id, moduleId, filename, size, sha1, md5, sha256],
      );
      if (rows.length === 0) throw new HarrierError("entityAlreadyExists");
      neighbours.attached.push({ ...request, commandId, id });
      return { id, createdBy: "admin", createdAt: 1_700_000_000_999 };
    },
  };
}

function actionsOf(neighbours: Neighbours): Handlers<"harrier.controller.v1.ActionsService"> {
  const handlers = {
    async noteDownloads({ downloads }: DownloadsRequest) {
      await neighbours.beforeRecorded();
      failOnce(neighbours.failures.noteDownloads);
      neighbours.noted.push(...downloads);
      return { noted: downloads.length };
    },
  };
  // every other method exists too, and a call of it fails the test
  return new Proxy(handlers, {
    get: (own, name) => Reflect.get(own, name) ?? (() => Promise.reject(new Error(`${String(name)} is not called by this service`))),
  }) as unknown as Handlers<"harrier.controller.v1.ActionsService">;
}

function failOnce(failures: HarrierError[]): void {
  const failure = failures.shift();
  if (failure !== undefined) throw failure;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface FormPart {
  readonly name: string;
  readonly filename?: string;
  readonly body: Buffer | string;
}

/** Creates a form and the header that belongs to it. */
export function form(...parts: readonly FormPart[]): { headers: Record<string, string>; body: Buffer } {
  const { type, body } = multipart(
    parts.map(({ name, filename, body }) => (filename === undefined ? [name, String(body)] : { name, filename, bytes: Buffer.from(body) })),
  );
  return { headers: { "content-type": type }, body };
}
