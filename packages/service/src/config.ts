import { readFileSync } from "node:fs";
import type { RpcTls } from "@harrier/rpc";
import { z } from "zod";
import type { DrainTimes } from "./drain.ts";

/** The error for a setting that is missing or wrong; its message is one line for the operator. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

export const port = z.coerce.number().int().min(0).max(65_535);

/** Every service knows these settings; `loadConfig` adds them to each schema. */
export const commonSettings = z.object({
  HARRIER_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** The form is `name:nth[:kill|exit|delay=<ms>]`; it is for tests only. */
  HARRIER_FAULT: z.string().optional(),
  /** The address of a collector of OpenTelemetry (OTLP over HTTP), which gets the traces of requests; absent means that nothing is traced. */
  HARRIER_OTLP_URL: z.url({ protocol: /^https?$/ }).optional(),
  HARRIER_HTTP_HOST: z.string().default("127.0.0.1"),
  /** The port of /livez, /readyz and /metrics without TLS, for probes and scrapers inside; absent means that they are on the HTTP port alone. */
  HARRIER_METRICS_PORT: port.optional(),
  /** The milliseconds between "not ready" and the end of the listener when the service is told to stop; longer than its callers' checks. */
  HARRIER_DRAIN_MS: z.coerce.number().int().min(0).max(600_000).default(3_000),
  /** Running uploads and downloads get so many milliseconds after that. */
  HARRIER_DRAIN_TRANSFERS_MS: z.coerce.number().int().min(0).max(3_600_000).default(60_000),
  /** The PEM texts, usually as `…_FILE`; all three together enable mutual TLS between the services. */
  HARRIER_TLS_CERT: z.string().optional(),
  HARRIER_TLS_KEY: z.string().optional(),
  HARRIER_TLS_CA: z.string().optional(),
});

type Common = (typeof commonSettings)["shape"];
export type CommonConfig = z.output<typeof commonSettings>;

/** The result of `loadConfig` for a schema. */
export type ConfigOf<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Omit<Common, keyof Shape> & Shape>>;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of a service. Each may come as `NAME` or as `NAME_FILE` (path of a file that holds the value). Unknown HARRIER_* names only
 * give a warning, because Kubernetes injects some, and an old image must work with a newer key.
 */
export function loadConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Env,
  warn: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): ConfigOf<Shape> {
  const whole = z.object({ ...commonSettings.shape, ...schema.shape });
  const names = Object.keys(whole.shape);
  const given: Record<string, string> = {};
  for (const name of names) {
    const value = readSetting(name, env);
    if (value !== undefined) given[name] = value;
  }
  const unknown = unknownSettings(names, env);
  if (unknown.length > 0) warn(`unknown settings are ignored: ${unknown.join(", ")}`);
  const result = whole.safeParse(given);
  if (result.success) return result.data as ConfigOf<Shape>;
  throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "));
}

/** Answers the HARRIER_* names in the environment that no setting has. */
export function unknownSettings(names: readonly string[], env: Env): string[] {
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  return Object.keys(env)
    .filter((name) => name.startsWith("HARRIER_") && !known.has(name))
    .sort();
}

/** Answers a configuration for the log: secrets and passwords in URLs are replaced at any depth. */
export function redactConfig(config: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, redactValue(name, value)]));
}

/** Answers the drain times of a service's HTTP server, for `createHttp`. */
export function drainOf(config: CommonConfig): DrainTimes {
  return { pauseMs: config.HARRIER_DRAIN_MS, transfersMs: config.HARRIER_DRAIN_TRANSFERS_MS };
}

/** Answers the mutual TLS of the services' own connections, if all its settings are given. */
export function tlsOf(config: Partial<CommonConfig>): RpcTls | undefined {
  const { HARRIER_TLS_CERT: cert, HARRIER_TLS_KEY: key, HARRIER_TLS_CA: ca } = config;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined || ca === undefined) {
    throw new ConfigError("HARRIER_TLS_CERT, HARRIER_TLS_KEY and HARRIER_TLS_CA belong together: give all three or none");
  }
  return { cert, key, ca };
}

function readSetting(name: string, env: Env): string | undefined {
  const value = present(env[name]);
  const path = present(env[`${name}_FILE`]);
  if (path === undefined) return value;
  if (value !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both given: keep one`);
  const text = readText(name, path).trimEnd();
  // a file was named, so an empty one is a secret that was not mounted, and not an absent setting
  if (text === "") throw new ConfigError(`${name}_FILE: ${path} is empty`);
  return text;
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new ConfigError(`${name}_FILE: cannot read ${path}`);
  }
}

// compose files and charts set absent values to ""
function present(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

const secretName = /password|secret|token|key/i;

function redactValue(name: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (secretName.test(name)) return "***";
  if (typeof value === "string") return value.replace(/(\w+:\/\/[^/:@\s]*):[^@/\s]+@/g, "$1:***@");
  if (Array.isArray(value)) return value.map((member) => redactValue(name, member));
  return typeof value === "object" && value !== null ? redactConfig(value) : value;
}
