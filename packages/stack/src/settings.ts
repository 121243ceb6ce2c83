import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { type DatabaseService, databaseServices } from "@harrier/db";
import { nearestName } from "./nearest-name.ts";
import { StartError } from "./start-error.ts";

export interface S3Settings {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  bucket: string;
}

/** The message broker of devices that speak DMF. */
export interface AmqpSettings {
  /** As the services connect, with user and password. */
  url: string;
  /** Its management interface, with user and password. */
  managementUrl: string;
  /** As devices and users connect; absent means as the services do. */
  publicUrl?: string;
}

/** It is embedded, one server that we may set up, or four databases' URLs that are used as they are. */
export type DatabaseSettings =
  | { kind: "embedded" }
  | { kind: "one"; url: string }
  | { kind: "per-service"; urls: Readonly<Record<DatabaseService, string>> };

export interface StartSettings {
  httpPort: number;
  dataDir: string;
  adminPassword?: string;
  database: DatabaseSettings;
  kafkaBrokers?: string;
  s3?: S3Settings;
  amqp?: AmqpSettings;
  /** Uploads leave so many bytes free on the disk of the data directory. */
  storageReserve?: number;
  /** Events are kept for so many days. */
  eventDays?: number;
  /** Files that no artifact has any more are kept for so many days. */
  artifactKeepDays?: number;
  logLevel?: string;
  /** How unknown members of a request are handled: `warn`, `refuse` or `ignore`. */
  unknownMembers?: string;
  /** The settings of the gateway alone, by their names. */
  gateway?: Readonly<Record<string, string>>;
  /** The settings of controller alone, by their names. */
  controller?: Readonly<Record<string, string>>;
}

const databaseSetting = (service: DatabaseService) => `HARRIER_${service.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`;
const s3Names = {
  endpoint: "HARRIER_S3_ENDPOINT",
  accessKey: "HARRIER_S3_ACCESS_KEY",
  secretKey: "HARRIER_S3_SECRET_KEY",
  bucket: "HARRIER_S3_BUCKET",
};
const amqpNames = { url: "HARRIER_AMQP_URL", managementUrl: "HARRIER_AMQP_MANAGEMENT_URL" };
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal"];

const addressLists = ["HARRIER_TRUSTED_PROXIES", "HARRIER_RATE_EXEMPT"];
const rateNames = ["ADDRESS", "DEVICE", "TENANT"].flatMap((whose) =>
  ["READS", "WRITES", "DOWNLOADS"].map((what) => `HARRIER_RATE_${whose}_${what}`),
);
const userRateNames = ["USER", "USERS"].flatMap((whose) => ["READS", "WRITES"].map((what) => `HARRIER_RATE_${whose}_${what}`));
const byteRateNames = ["HARRIER_RATE_DEVICE_BYTES", "HARRIER_RATE_TENANT_BYTES"];
const concurrencyNames = [
  "HARRIER_IN_FLIGHT_TENANT",
  "HARRIER_IN_FLIGHT_DEVICE",
  "HARRIER_CONNECTIONS_TOTAL",
  "HARRIER_CONNECTIONS_ADDRESS",
];
const drainNames = ["HARRIER_DRAIN_MS", "HARRIER_DRAIN_TRANSFERS_MS"];
const consoleName = "HARRIER_CONSOLE";
const issuersName = "HARRIER_OIDC_ISSUERS";
const failureNames = ["ACCOUNT", "USER", "ADDRESS", "ADDRESS_DEVICES"].map((whose) => `HARRIER_SIGN_IN_FAILURES_${whose}`);
const tlsFileNames = ["CERT", "KEY", "CLIENT_CA"].map((what) => `HARRIER_HTTPS_${what}_FILE`);
/** The settings that are whole numbers, and what they count. */
const numbers: readonly { names: readonly string[]; what: string }[] = [
  { names: [...rateNames, ...userRateNames], what: "requests a second" },
  { names: byteRateNames, what: "bytes a second" },
  { names: concurrencyNames, what: "a number of them at once" },
  { names: drainNames, what: "milliseconds" },
  { names: failureNames, what: "failures a minute" },
];
/** These are passed on unchanged to the gateway, which knows their defaults. */
const gatewayNames = [
  "HARRIER_PUBLIC_URL",
  consoleName,
  "HARRIER_CERTIFICATE_HEADERS",
  issuersName,
  ...addressLists,
  ...rateNames,
  ...userRateNames,
  ...byteRateNames,
  ...concurrencyNames,
  ...drainNames,
  ...failureNames,
  "HARRIER_HTTPS_PORT",
  ...tlsFileNames,
];

/** These are passed on unchanged to controller, which knows their defaults. */
const controllerNames = ["HARRIER_ARTIFACT_LINKS", "HARRIER_DOWNLOAD_URL"];

const plainNames = [
  "HARRIER_HTTP_PORT",
  "HARRIER_DATA_DIR",
  "HARRIER_KAFKA_BROKERS",
  "HARRIER_AMQP_PUBLIC_URL",
  "HARRIER_LOG_LEVEL",
  "HARRIER_STORAGE_RESERVE",
  "HARRIER_EVENT_DAYS",
  "HARRIER_ARTIFACT_KEEP_DAYS",
  "HARRIER_UNKNOWN_MEMBERS",
  s3Names.endpoint,
  s3Names.bucket,
  ...gatewayNames,
  ...controllerNames,
];
/** Each of these, and the list of issuers, may also be given as NAME_FILE, the path of a file that holds the value. */
const secretNames = [
  "HARRIER_ADMIN_PASSWORD",
  "HARRIER_DATABASE_URL",
  ...databaseServices.map(databaseSetting),
  s3Names.accessKey,
  s3Names.secretKey,
  ...Object.values(amqpNames),
];

const namesWithFile = [issuersName, ...secretNames];

/** Every setting that `npm start` knows. */
export const settingNames: readonly string[] = [...plainNames, ...secretNames, ...namesWithFile.map((name) => `${name}_FILE`)];

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings of `npm start`; throws a StartError for the first one that is unknown or has an unusable value. */
export function readSettings(env: Environment, cwd: string): StartSettings {
  for (const name of Object.keys(env)) {
    if (!name.startsWith("HARRIER_") || settingNames.includes(name)) continue;
    const nearest = nearestName(name, settingNames);
    throw new StartError(`unknown setting ${name}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`);
  }
  const value = (name: string) => readValue(env, name, cwd);
  const adminPassword = value("HARRIER_ADMIN_PASSWORD");
  if (adminPassword !== undefined && /\p{Cc}/u.test(adminPassword))
    throw new StartError("HARRIER_ADMIN_PASSWORD must hold no control characters: nobody can sign in with them");
  const kafkaBrokers = readBrokers(value("HARRIER_KAFKA_BROKERS"));
  const s3 = readS3(value);
  const amqp = readAmqp(value);
  const gateway = readGateway(value);
  const storageReserve = readBytes("HARRIER_STORAGE_RESERVE", value("HARRIER_STORAGE_RESERVE"));
  const eventDays = readDays("HARRIER_EVENT_DAYS", value, [2, 30]);
  const artifactKeepDays = readDays("HARRIER_ARTIFACT_KEEP_DAYS", value, [0, 3_650]);
  const controller = readController(value);
  const logLevel = value("HARRIER_LOG_LEVEL");
  if (logLevel !== undefined && !logLevels.includes(logLevel))
    throw new StartError(`HARRIER_LOG_LEVEL must be one of ${logLevels.join(", ")}`);
  const unknownMembers = value("HARRIER_UNKNOWN_MEMBERS");
  if (unknownMembers !== undefined && !["warn", "refuse", "ignore"].includes(unknownMembers))
    throw new StartError("HARRIER_UNKNOWN_MEMBERS must be one of warn, refuse, ignore");
  return {
    httpPort: readPort(value("HARRIER_HTTP_PORT") ?? "8080"),
    dataDir: resolve(cwd, value("HARRIER_DATA_DIR") ?? ".harrier"),
    database: readDatabase(value),
    ...(adminPassword === undefined ? {} : { adminPassword }),
    ...(kafkaBrokers === undefined ? {} : { kafkaBrokers }),
    ...(s3 === undefined ? {} : { s3 }),
    ...(amqp === undefined ? {} : { amqp }),
    ...(storageReserve === undefined ? {} : { storageReserve }),
    ...(eventDays === undefined ? {} : { eventDays }),
    ...(artifactKeepDays === undefined ? {} : { artifactKeepDays }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(unknownMembers === undefined ? {} : { unknownMembers }),
    ...(Object.keys(gateway).length === 0 ? {} : { gateway }),
    ...(Object.keys(controller).length === 0 ? {} : { controller }),
  };
}

/** Reads the gateway's settings and reports errors here in one line, because the gateway could only fail to start. */
function readGateway(value: (name: string) => string | undefined): Record<string, string> {
  const given = gatewayNames.flatMap((name) => {
    const text = value(name);
    return text === undefined ? [] : [{ name, text }];
  });
  for (const { name, text } of given) {
    if (addressLists.includes(name)) checkAddresses(name, text);
    const what = numbers.find(({ names }) => names.includes(name))?.what;
    if (what !== undefined && !/^\d{1,9}$/.test(text)) throw new StartError(`${name} must be ${what}, not "${text}"`);
    if (name === "HARRIER_HTTPS_PORT" && !(/^\d{1,5}$/.test(text) && Number(text) <= 65_535))
      throw new StartError(`${name} must be a port, not "${text}"`);
    if (name === "HARRIER_PUBLIC_URL" && !/^https?:\/\/[^\s]+$/.test(text))
      throw new StartError(`HARRIER_PUBLIC_URL must be a URL like https://updates.example.com, not "${text}"`);
    if (name === issuersName && !isJsonList(text))
      throw new StartError(
        `${name} must be a JSON list like [{"issuer": "https://id.example.com", "audience": "harrier", "tenant": "DEFAULT"}]`,
      );
    if (
      name === "HARRIER_CERTIFICATE_HEADERS" &&
      text !== "none" &&
      !text.split(",").every((pair) => /^[\w-]+:[\w-]+(%d)?$/.test(pair.trim()))
    )
      throw new StartError(`HARRIER_CERTIFICATE_HEADERS must be like X-Common-Name:X-Issuer-Hash-%d, not "${text}"`);
  }
  // the gateway reads the files from any working directory
  const isPath = (name: string, text: string) => tlsFileNames.includes(name) || (name === consoleName && text !== "none");
  return Object.fromEntries(given.map(({ name, text }) => [name, isPath(name, text) ? resolve(text) : text]));
}

function readController(value: (name: string) => string | undefined): Record<string, string> {
  const given = Object.fromEntries(controllerNames.flatMap((name) => (value(name) === undefined ? [] : [[name, value(name) as string]])));
  const { HARRIER_ARTIFACT_LINKS: links = "classic", HARRIER_DOWNLOAD_URL: host = "https://files.example.com" } = given;
  if (!/^(classic|hawkbit|((download|md5sum)(-http)?=\S+(\s+|$))+)$/.test(links))
    throw new StartError(`HARRIER_ARTIFACT_LINKS must be classic, hawkbit, or patterns like download=hawkbit, not "${links}"`);
  if (!/^https?:\/\/[^\s?#]+$/.test(host))
    throw new StartError(`HARRIER_DOWNLOAD_URL must be a URL like https://files.example.com, not "${host}"`);
  return given;
}

function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function checkAddresses(name: string, text: string): void {
  if (text === "none") return;
  for (const entry of text.split(",").map((part) => part.trim())) {
    const [address = "", length = "0", ...more] = entry.split("/");
    const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (entry === "" || more.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > maxBits)
      throw new StartError(`${name} must be addresses and networks like 10.0.0.0/8,::1 or "none", not "${entry}"`);
  }
}

/**
 * Answers the value of NAME or of the file NAME_FILE. An empty value counts as not given, but an empty file is an error: without its content the
 * start would use another database or another password.
 */
function readValue(env: Environment, name: string, cwd: string): string | undefined {
  const own = env[name] || undefined;
  const file = namesWithFile.includes(name) ? env[`${name}_FILE`] || undefined : undefined;
  if (file === undefined) return own;
  if (own !== undefined) throw new StartError(`${name} and ${name}_FILE are both given: use one`);
  const text = readText(name, resolve(cwd, file), file).trim();
  if (text === "") throw new StartError(`${name}_FILE: ${file} is empty`);
  return text;
}

function readText(name: string, path: string, file: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`${name}_FILE: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new StartError(`HARRIER_HTTP_PORT must be a port from 1 to 65535, not "${text}"`);
  return port;
}

function readBytes(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new StartError(`${name} must be a number of bytes, not "${text}"`);
  return Number(text);
}

function readDays(name: string, value: (name: string) => string | undefined, [least, most]: readonly [number, number]): number | undefined {
  const text = value(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,4}$/.test(text) || Number(text) < least || Number(text) > most)
    throw new StartError(`${name} must be a number of days from ${least} to ${most}, not "${text}"`);
  return Number(text);
}

function readDatabase(value: (name: string) => string | undefined): DatabaseSettings {
  const one = value("HARRIER_DATABASE_URL");
  const given = databaseServices.map((service) => ({ service, name: databaseSetting(service), url: value(databaseSetting(service)) }));
  if (one !== undefined) checkPostgresUrl("HARRIER_DATABASE_URL", one);
  if (given.every(({ url }) => url === undefined)) return one === undefined ? { kind: "embedded" } : { kind: "one", url: one };
  const first = given.find(({ url }) => url !== undefined);
  if (one !== undefined) throw new StartError(`HARRIER_DATABASE_URL and ${first?.name} are both given: use one URL, or one per service`);
  const urls: Partial<Record<DatabaseService, string>> = {};
  for (const { service, name, url } of given) {
    if (url === undefined) throw new StartError(`${name} is missing: with ${first?.name} each of the four services needs its own URL`);
    checkPostgresUrl(name, url);
    urls[service] = url;
  }
  return { kind: "per-service", urls: urls as Record<DatabaseService, string> };
}

// the value itself is never shown, because it contains a password
function checkPostgresUrl(name: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === "" || url.pathname.length < 2)
    throw new StartError(`${name} must be a URL like postgres://user:password@host:5432/database`);
}

function readBrokers(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const brokers = text.split(",").map((broker) => broker.trim());
  if (!brokers.every((broker) => /^(\[[0-9a-f:]+\]|[^\s:,/]+):\d{1,5}$/i.test(broker)))
    throw new StartError(`HARRIER_KAFKA_BROKERS must be host:port[,host:port], not "${text}"`);
  return brokers.join(",");
}

function readS3(value: (name: string) => string | undefined): S3Settings | undefined {
  const found = Object.entries(s3Names).map(([key, name]) => ({ key, name, text: value(name) }));
  const first = found.find(({ text }) => text !== undefined);
  if (first === undefined) return undefined;
  const missing = found.find(({ text }) => text === undefined);
  if (missing !== undefined)
    throw new StartError(`${missing.name} is missing: ${first.name} is given, and S3 needs ${Object.values(s3Names).join(", ")}`);
  const s3 = Object.fromEntries(found.map(({ key, text }) => [key, text])) as unknown as S3Settings;
  if (!URL.canParse(s3.endpoint) || !/^https?:$/.test(new URL(s3.endpoint).protocol))
    throw new StartError(`HARRIER_S3_ENDPOINT must be a URL like http://127.0.0.1:9000, not "${s3.endpoint}"`);
  return s3;
}

function readAmqp(value: (name: string) => string | undefined): AmqpSettings | undefined {
  const [url, managementUrl, publicUrl] = [value(amqpNames.url), value(amqpNames.managementUrl), value("HARRIER_AMQP_PUBLIC_URL")];
  if (url === undefined && managementUrl === undefined && publicUrl === undefined) return undefined;
  if (url === undefined || managementUrl === undefined)
    throw new StartError(
      `${url === undefined ? amqpNames.url : amqpNames.managementUrl} is missing: messaging needs both addresses of the broker`,
    );
  // the first two contain passwords, so their values are not shown
  checkUrl(url, /^amqps?:$/, `${amqpNames.url} must be a URL like amqp://user:password@host:5672`);
  checkUrl(managementUrl, /^https?:$/, `${amqpNames.managementUrl} must be a URL like http://user:password@host:15672`);
  if (publicUrl === undefined) return { url, managementUrl };
  checkUrl(publicUrl, /^amqps?:$/, `HARRIER_AMQP_PUBLIC_URL must be a URL like amqps://broker.example.com:5671, not "${publicUrl}"`);
  return { url, managementUrl, publicUrl };
}

function checkUrl(text: string, protocol: RegExp, message: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !protocol.test(url.protocol) || url.hostname === "") throw new StartError(message);
}
