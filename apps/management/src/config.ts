import { type AnchorKeys, parseAnchorKeys } from "@harrier/audit";
import { type Allowed, parseAllowed } from "@harrier/egress";
import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

function readAnchorKeys(text: string, ctx: z.RefinementCtx): AnchorKeys {
  try {
    return parseAnchorKeys(text);
  } catch (error) {
    ctx.addIssue({ code: "custom", message: (error as Error).message });
    return z.NEVER;
  }
}

function readAllowed(text: string, ctx: z.RefinementCtx): Allowed {
  try {
    return parseAllowed(text);
  } catch (error) {
    ctx.addIssue({ code: "custom", message: (error as Error).message });
    return z.NEVER;
  }
}

const amqpUrl = z.url({ protocol: /^amqps?$/ });

/** These are the settings of management; nothing else reads the environment. Secrets may also be given as `…_FILE`. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8082),
  HARRIER_GRPC_PORT: port.default(9082),
  HARRIER_DATABASE_URL: z.string().min(1),
  /** The same database and role on a standby, where lists are read as far as it has caught up. Without it the primary reads them. */
  HARRIER_STANDBY_DATABASE_URL: z.string().min(1).optional(),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** This key seals the gateway key: 32 bytes in base64, the same in every replica, kept for as long as the database. */
  HARRIER_SECRET_KEY: z.string().min(1),
  /** This key of this service alone signs what it sees of the other services' audit trails: 32 bytes in base64. Without it nothing is signed. */
  HARRIER_AUDIT_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, "32 bytes in base64")
    .optional(),
  /**
   * These are the public parts of all services' audit keys: `<service>=<base64>`, comma separated. With them the verifier demands their
   * signatures.
   */
  HARRIER_AUDIT_PUBLIC_KEYS: z.string().transform(readAnchorKeys).optional(),
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_ARTIFACT_STORE_GRPC: z.string().min(1),
  /** This administrator is created or updated at every start. */
  HARRIER_ADMIN_USER: z.string().min(1).max(128).default("admin"),
  HARRIER_ADMIN_PASSWORD: z
    .string()
    .min(1)
    .regex(/^\P{Cc}*$/u, "no control characters: nobody can sign in with them"),
  /** This is the gateway's public address: `iss` and `aud` of the tokens of our own token endpoint, and the address under which it is found. */
  HARRIER_OAUTH_ISSUER: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:8080"),
  /** A key that signs tokens gets a successor at this age in days. */
  HARRIER_OAUTH_KEY_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
  /** Seconds after which the session of a user ends, used or not, */
  HARRIER_SESSION_TTL: z.coerce.number().int().min(60).max(2_592_000).default(43_200),
  /** and without a request. */
  HARRIER_SESSION_IDLE: z.coerce.number().int().min(60).max(2_592_000).default(3_600),
  HARRIER_DEFAULT_TENANT: z.string().min(1).max(128).default("DEFAULT"),
  /** With `classic`, /rest/v1 answers like /api/mgmt/v1. */
  HARRIER_REST_DIALECT: z.enum(["current", "classic"]).default("current"),
  /**
   * This decides on unknown members of a body of the management interface: a `Warning` header names them, they are answered by 400, or they
   * are ignored.
   */
  HARRIER_UNKNOWN_MEMBERS: z.enum(["warn", "refuse", "ignore"]).default("warn"),
  HARRIER_ROLLOUT_ENGINE_GRPC: z.string().min(1),
  /**
   * An admitted request may be under way for so many seconds; the erasure of a deleted tenant is completed only after that. It is more than
   * the validity of a signed identity (20 s, a minute more by the clock of its reader, and a minute by which the gateway's clock may be
   * ahead) and the longest deadline (30 s) together.
   */
  HARRIER_LATE_REQUESTS_SECONDS: z.coerce.number().int().min(0).max(3_600).default(180),
  /** The message broker as the services connect to it, with user and password; without it messaging cannot be enabled (503). */
  HARRIER_AMQP_URL: amqpUrl.optional(),
  /** RabbitMQ's management interface, with user and password: virtual hosts and users of tenants are made there. */
  HARRIER_AMQP_MANAGEMENT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The message broker as devices and users connect to it, `amqps://host:port`; if absent, the host and port of HARRIER_AMQP_URL. */
  HARRIER_AMQP_PUBLIC_URL: amqpUrl.optional(),
  /** The brokers that events go to, `host:port` and comma separated; without them events can be read by cursor alone. */
  HARRIER_KAFKA_BROKERS: z.string().min(1).optional(),
  /** Events stay readable by cursor, and can be replayed, for so many days. */
  HARRIER_EVENT_DAYS: z.coerce.number().int().min(2).max(30).default(2),
  /** What is called for tenants beyond public addresses with TLS: `<tenant>@<network>` or `<tenant>@<host>:<port>`, comma separated, `*` for all tenants. */
  HARRIER_EGRESS_ALLOW: z.string().default("").transform(readAllowed),
  HARRIER_MANAGEMENT_GRPC: z.string().optional(),
});

export type ManagementConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ManagementConfig {
  return loadConfig(settings, env);
}

const verifySettings = settings.pick({ HARRIER_DATABASE_URL: true, HARRIER_AUDIT_PUBLIC_KEYS: true });

/** These are the settings of the command that verifies the audit trail: the service's own database, and the public audit keys that it trusts. */
export function readVerifyConfig(env: NodeJS.ProcessEnv = process.env): ConfigOf<typeof verifySettings.shape> {
  return loadConfig(verifySettings, env);
}
