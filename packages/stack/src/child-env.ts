import { auditedServices, createSigner, type DatabaseService } from "@harrier/db";
import type { Secrets } from "./data-dir.ts";
import { type BackendName, calls, isBackend, keyPairs, type ServiceName, settingPart } from "./services.ts";
import type { AmqpSettings, S3Settings } from "./settings.ts";

/** The ports of one replica, always on 127.0.0.1. The gateway has no gRPC port. */
export interface Replica {
  readonly service: ServiceName;
  /** The number within its service: 0, 1, … */
  readonly index: number;
  readonly httpPort: number;
  readonly grpcPort?: number;
}

/** More of the environment, by the name of a service or of one of its replicas (`gateway-1`), which comes last. */
export type EnvOf = Partial<Readonly<Record<ServiceName | `${ServiceName}-${number}`, Readonly<Record<string, string>>>>>;

/** The environments of all services are made from this. */
export interface Plan {
  replicas: readonly Replica[];
  secrets: Secrets;
  adminPassword: string;
  databaseUrls: Readonly<Record<DatabaseService, string>>;
  storageDir: string;
  /** Uploads leave so many bytes free there. */
  storageReserve?: number;
  /** It is set for the services that publish events. */
  eventDays?: number;
  /** It is set for artifact-store. */
  artifactKeepDays?: number;
  kafkaBrokers?: string;
  s3?: S3Settings;
  amqp?: AmqpSettings;
  logLevel?: string;
  /** It is set for all services. */
  otlpUrl?: string;
  /** It is set for the services that take JSON of the management interface. */
  unknownMembers?: string;
  /** The folder of the built console, if there is one. */
  consoleDir?: string;
  /** It is added to the gateways' environment. */
  gateway?: Readonly<Record<string, string>>;
  /** It is added to the controllers' environment. */
  controller?: Readonly<Record<string, string>>;
  /** It is added to the environment of management's replicas. */
  management?: Readonly<Record<string, string>>;
  /** It is added to every service's environment. */
  extra: Readonly<Record<string, string>>;
  /** The services behind the gateway speak TLS, so their addresses are https. */
  secure?: boolean;
  /** It is added only to the environment of one service's replicas, or of one replica (`gateway-1`). */
  envOf?: EnvOf;
}

type Variables = Record<string, string>;

const HOST = "127.0.0.1";

/** These services read bodies of the management interface; artifact-store reads bytes. */
const takesJson: ReadonlySet<ServiceName> = new Set(["management", "rollout-engine"]);
const publishes: ReadonlySet<ServiceName> = new Set(["controller", "management", "rollout-engine"]);

/**
 * Makes the whole environment of a replica from nothing, so that services do not inherit ours (NODE_OPTIONS, npm's variables, other people's
 * secrets).
 */
export function childEnv(plan: Plan, replica: Replica, machine: Readonly<Record<string, string | undefined>>): Variables {
  const { service } = replica;
  const env: Variables = {
    HARRIER_HTTP_HOST: HOST,
    HARRIER_HTTP_PORT: String(replica.httpPort),
    HARRIER_IDENTITY_KEYS: identityKeys(plan, service),
    // with one replica of each on one machine no balancer has to notice, and who presses Ctrl-C does not want to wait
    HARRIER_DRAIN_MS: "0",
    HARRIER_DRAIN_TRANSFERS_MS: "2500",
    ...addresses(plan, service),
    ...own(plan, service),
    ...(plan.unknownMembers !== undefined && takesJson.has(service) ? { HARRIER_UNKNOWN_MEMBERS: plan.unknownMembers } : undefined),
    ...days(plan, service),
    ...auditKeys(plan, service),
    ...(service === "gateway" && plan.consoleDir !== undefined ? { HARRIER_CONSOLE: plan.consoleDir } : undefined),
    ...(service === "gateway" ? plan.gateway : undefined),
    ...(service === "controller" ? plan.controller : undefined),
    ...(service === "management" ? plan.management : undefined),
    ...plan.extra,
    ...plan.envOf?.[service],
    ...plan.envOf?.[`${service}-${replica.index}`],
  };
  for (const name of ["PATH", "HOME", "TZ"]) {
    const value = machine[name];
    if (value !== undefined) env[name] = value;
  }
  if (replica.grpcPort !== undefined) env["HARRIER_GRPC_PORT"] = String(replica.grpcPort);
  if (plan.logLevel !== undefined) env["HARRIER_LOG_LEVEL"] = plan.logLevel;
  if (plan.otlpUrl !== undefined) env["HARRIER_OTLP_URL"] = plan.otlpUrl;
  if (isBackend(service)) {
    env["HARRIER_DATABASE_URL"] = plan.databaseUrls[service];
    if (plan.kafkaBrokers !== undefined) env["HARRIER_KAFKA_BROKERS"] = plan.kafkaBrokers;
  }
  return env;
}

function days({ eventDays, artifactKeepDays }: Plan, service: ServiceName): Variables {
  return {
    ...(eventDays !== undefined && publishes.has(service) ? { HARRIER_EVENT_DAYS: String(eventDays) } : undefined),
    ...(artifactKeepDays !== undefined && service === "artifact-store"
      ? { HARRIER_ARTIFACT_KEEP_DAYS: String(artifactKeepDays) }
      : undefined),
  };
}

/** Answers the keys of the pairs that the service belongs to: it signs as the caller and verifies as the audience. */
function identityKeys(plan: Plan, service: ServiceName): string {
  const own = keyPairs.filter((pair) => pair.split("/").includes(service));
  return own.map((pair) => `${pair}=k1:${plan.secrets.identityKeys[pair]}`).join(";");
}

function addresses(plan: Plan, service: ServiceName): Variables {
  const env: Variables = {};
  const of = (backend: BackendName) => plan.replicas.filter((replica) => replica.service === backend);
  for (const backend of calls[service]) {
    const part = settingPart(backend);
    env[`HARRIER_${part}_GRPC`] = of(backend)
      .map((replica) => `${HOST}:${replica.grpcPort}`)
      .join(",");
    if (service !== "gateway") continue;
    env[`HARRIER_${part}_HTTP`] = of(backend)
      .map((replica) => `${plan.secure === true ? "https" : "http"}://${HOST}:${replica.httpPort}`)
      .join(",");
  }
  return env;
}

/** Answers where services get tokens without a public address: the first gateway. */
function firstGateway({ replicas }: Plan): string {
  const gateway = replicas.find((replica) => replica.service === "gateway" && replica.index === 0);
  return `http://${HOST}:${gateway?.httpPort ?? 8080}`;
}

/** Answers the service's own secret key and, for a verifier, all public ones. */
function auditKeys({ secrets: { auditKeys: keys } }: Plan, service: ServiceName): Variables {
  const audited = auditedServices.find((one) => one === service);
  if (keys === undefined || audited === undefined) return {};
  return {
    HARRIER_AUDIT_KEY: keys[audited],
    ...(service === "management" ? { HARRIER_AUDIT_PUBLIC_KEYS: publicKeys(keys) } : undefined),
  };
}

const publicKeys = (secrets: Readonly<Record<string, string>>): string =>
  Object.entries(secrets)
    .map(([service, secret]) => `${service}=${createSigner(secret).publicKey.toString("base64")}`)
    .join(",");

/** The broker as management asks it to make virtual hosts and users of tenants. */
function broker({ amqp }: Plan): Variables {
  if (amqp === undefined) return {};
  const { url, managementUrl, publicUrl } = amqp;
  return {
    HARRIER_AMQP_URL: url,
    HARRIER_AMQP_MANAGEMENT_URL: managementUrl,
    ...(publicUrl === undefined ? {} : { HARRIER_AMQP_PUBLIC_URL: publicUrl }),
  };
}

function own(plan: Plan, service: ServiceName): Variables {
  switch (service) {
    case "controller":
      return { HARRIER_SECRET_KEY: plan.secrets.secretKey };
    case "management":
      return {
        HARRIER_SECRET_KEY: plan.secrets.secretKey,
        HARRIER_ADMIN_USER: "admin",
        HARRIER_ADMIN_PASSWORD: plan.adminPassword,
        HARRIER_DEFAULT_TENANT: "DEFAULT",
        HARRIER_OAUTH_ISSUER: plan.gateway?.["HARRIER_PUBLIC_URL"] ?? firstGateway(plan),
        ...broker(plan),
      };
    case "artifact-store":
      return plan.s3 === undefined
        ? {
            HARRIER_STORAGE_DIR: plan.storageDir,
            ...(plan.storageReserve === undefined ? {} : { HARRIER_STORAGE_RESERVE: String(plan.storageReserve) }),
          }
        : {
            HARRIER_S3_ENDPOINT: plan.s3.endpoint,
            HARRIER_S3_ACCESS_KEY: plan.s3.accessKey,
            HARRIER_S3_SECRET_KEY: plan.s3.secretKey,
            HARRIER_S3_BUCKET: plan.s3.bucket,
            ...(plan.s3.publicEndpoint === undefined ? {} : { HARRIER_S3_PUBLIC_ENDPOINT: plan.s3.publicEndpoint }),
          };
    case "dmf":
      return {
        HARRIER_PUBLIC_URL: plan.gateway?.["HARRIER_PUBLIC_URL"] ?? firstGateway(plan),
        ...(plan.amqp === undefined ? {} : { HARRIER_AMQP_URL: plan.amqp.url }),
      };
    default:
      return {};
  }
}
