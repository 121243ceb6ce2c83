import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@harrier/stack";
import { workspaceRoot } from "../workspace.ts";
import { cached, install } from "./cache.ts";
import { startServer } from "./server-process.ts";

const version = "0.165.0";

/** A span as the collector has written it. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Begin and end, in nanoseconds since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Collector {
  /** The address for OTLP over HTTP. */
  readonly url: string;
  /** Answers all spans that it has got so far. */
  spans(): CollectedSpan[];
  stop(): Promise<void>;
}

/** Answers the path of the collector; it is built of OpenTelemetry's modules once (some five minutes) and kept in the cache. It needs Go. */
function installCollector(): Promise<string> {
  return cached(join("bin", `otel-collector-${version}`), async (dir) => {
    cpSync(join(workspaceRoot, "packages", "testkit", "collector"), dir, { recursive: true });
    await install("go", ["build", "-o", "collector", "."], { cwd: dir, env: { ...process.env, GOFLAGS: "-p=2 -mod=readonly" } });
    return join(dir, "collector");
  });
}

/** Starts a real collector of OpenTelemetry, which writes down what it receives. */
export async function startCollector(): Promise<Collector> {
  const command = await installCollector();
  const root = mkdtempSync(join(tmpdir(), "harrier-collector-"));
  const [port = 0] = await freePorts(1);
  const file = join(root, "spans.jsonl");
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { file: { path: file, flush_interval: "100ms" } },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: { traces: { receivers: ["otlp"], exporters: ["file"] } },
    },
  };
  // JSON is YAML
  writeFileSync(join(root, "config.yaml"), JSON.stringify(config));
  const server = await startServer({
    name: "the collector",
    command,
    args: ["--config", `file:${join(root, "config.yaml")}`],
    cwd: root,
    isReady: () => answers(port),
    limitMs: 30_000,
  });
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => (existsSync(file) ? readSpans(readFileSync(file, "utf8")) : []),
    async stop() {
      await server.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WrittenSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly Attribute[];
}

interface Line {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[];
  }[];
}

const failedStatus = 2;

function readSpans(text: string): CollectedSpan[] {
  // the last line may still be being written
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines
    .filter((line) => line !== "")
    .flatMap((line) => (JSON.parse(line) as Line).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const service = textsOf(resource.attributes)["service.name"] ?? "";
      return scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(service, span)));
    });
}

function toSpan(service: string, span: WrittenSpan): CollectedSpan {
  const { name, kind, traceId, spanId, parentSpanId = "", startTimeUnixNano, endTimeUnixNano, status, attributes = [] } = span;
  const [start, end] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
  const failed = status?.code === failedStatus;
  return { service, name, kind, traceId, spanId, parentSpanId, start, end, failed, attributes: textsOf(attributes) };
}

function textsOf(attributes: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}
