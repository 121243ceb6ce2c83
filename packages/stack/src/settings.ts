import { resolve } from "node:path";
import { nearestName } from "./nearest-name.ts";
import { type DatabaseSettings, databaseNames, readDatabase } from "./settings/database-settings.ts";
import {
  type AmqpSettings,
  amqpNames,
  readAmqp,
  readBrokers,
  readS3,
  type S3Settings,
  s3Names,
  s3PublicName,
} from "./settings/external-settings.ts";
import { gatewayNames, issuersName, readGateway } from "./settings/gateway-settings.ts";
import { type Environment, readBytes, readDays, readPort, readValue } from "./settings/read-value.ts";
import { controllerNames, managementNames, readController, readManagement } from "./settings/service-settings.ts";
import { StartError } from "./start-error.ts";

export type { DatabaseSettings } from "./settings/database-settings.ts";
export type { AmqpSettings, S3Settings } from "./settings/external-settings.ts";

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
  /** The collector that gets the traces of requests. */
  otlpUrl?: string;
  /** How unknown members of a request are handled: `warn`, `refuse` or `ignore`. */
  unknownMembers?: string;
  /** The settings of the gateway alone, by their names. */
  gateway?: Readonly<Record<string, string>>;
  /** The settings of controller alone, by their names. */
  controller?: Readonly<Record<string, string>>;
  /** The settings of management alone, by their names. */
  management?: Readonly<Record<string, string>>;
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal"];

const plainNames = [
  "HARRIER_HTTP_PORT",
  "HARRIER_DATA_DIR",
  "HARRIER_KAFKA_BROKERS",
  "HARRIER_AMQP_PUBLIC_URL",
  "HARRIER_LOG_LEVEL",
  "HARRIER_OTLP_URL",
  "HARRIER_STORAGE_RESERVE",
  "HARRIER_EVENT_DAYS",
  "HARRIER_ARTIFACT_KEEP_DAYS",
  "HARRIER_UNKNOWN_MEMBERS",
  s3Names.endpoint,
  s3Names.bucket,
  s3PublicName,
  ...gatewayNames,
  ...controllerNames,
  ...managementNames,
];
/** Each of these, and the list of issuers, may also be given as NAME_FILE, the path of a file that holds the value. */
const secretNames = ["HARRIER_ADMIN_PASSWORD", ...databaseNames, s3Names.accessKey, s3Names.secretKey, ...Object.values(amqpNames)];

const namesWithFile = [issuersName, ...secretNames];

/** Every setting that `npm start` knows. */
export const settingNames: readonly string[] = [...plainNames, ...secretNames, ...namesWithFile.map((name) => `${name}_FILE`)];

/** Reads the settings of `npm start`; throws a StartError for the first one that is unknown or has an unusable value. */
export function readSettings(env: Environment, cwd: string): StartSettings {
  for (const name of Object.keys(env)) {
    if (!name.startsWith("HARRIER_") || settingNames.includes(name)) continue;
    const nearest = nearestName(name, settingNames);
    throw new StartError(`unknown setting ${name}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`);
  }
  const value = (name: string) => readValue(env, name, { cwd, withFile: namesWithFile });
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
  const management = readManagement(value);
  const logLevel = value("HARRIER_LOG_LEVEL");
  if (logLevel !== undefined && !logLevels.includes(logLevel))
    throw new StartError(`HARRIER_LOG_LEVEL must be one of ${logLevels.join(", ")}`);
  const otlpUrl = value("HARRIER_OTLP_URL");
  if (otlpUrl !== undefined && !/^https?:\/\/[^\s]+$/.test(otlpUrl))
    throw new StartError(`HARRIER_OTLP_URL must be a URL like http://127.0.0.1:4318, not "${otlpUrl}"`);
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
    ...(otlpUrl === undefined ? {} : { otlpUrl }),
    ...(unknownMembers === undefined ? {} : { unknownMembers }),
    ...(Object.keys(gateway).length === 0 ? {} : { gateway }),
    ...(Object.keys(controller).length === 0 ? {} : { controller }),
    ...(Object.keys(management).length === 0 ? {} : { management }),
  };
}
