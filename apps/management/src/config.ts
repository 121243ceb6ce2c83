import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

/** Settings of management: the only reader of the environment. Secrets may also come as `…_FILE`. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8082),
  HARRIER_GRPC_PORT: port.default(9082),
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** 32 bytes in base64: seals the gateway key. The same in every replica, and kept for as long as the database. */
  HARRIER_SECRET_KEY: z.string().min(1),
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_ARTIFACT_STORE_GRPC: z.string().min(1),
  /** The administrator that is made, or brought up to date, at every start. */
  HARRIER_ADMIN_USER: z.string().min(1).max(128).default("admin"),
  HARRIER_ADMIN_PASSWORD: z
    .string()
    .min(1)
    .regex(/^\P{Cc}*$/u, "no control characters: nobody can sign in with them"),
  /** `iss` and `aud` of the tokens of our own token endpoint, and the address under which it is found: the gateway's public one. */
  HARRIER_OAUTH_ISSUER: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:8080"),
  /** Age in days at which the key that signs them gets a successor. */
  HARRIER_OAUTH_KEY_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
  HARRIER_DEFAULT_TENANT: z.string().min(1).max(128).default("DEFAULT"),
  /** `classic`: /rest/v1 answers like /api/mgmt/v1. */
  HARRIER_REST_DIALECT: z.enum(["current", "classic"]).default("current"),
  HARRIER_ROLLOUT_ENGINE_GRPC: z.string().min(1),
  /**
   * How long a request that was let in may be under way, in seconds: the end of a deleted tenant is looked for only after it. More than the
   * signed identity lives and the longest deadline lasts.
   */
  HARRIER_LATE_REQUESTS_SECONDS: z.coerce.number().int().min(0).max(3_600).default(40),
  /** Given to every service; this one emits no events and calls nobody else. */
  HARRIER_KAFKA_BROKERS: z.string().optional(),
  HARRIER_MANAGEMENT_GRPC: z.string().optional(),
});

export type ManagementConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ManagementConfig {
  return loadConfig(settings, env);
}

const verifySettings = settings.pick({ HARRIER_DATABASE_URL: true });

/** Settings of the command that verifies the audit trail: the service's own database, nothing else. */
export function readVerifyConfig(env: NodeJS.ProcessEnv = process.env): ConfigOf<typeof verifySettings.shape> {
  return loadConfig(verifySettings, env);
}
