import { type AnchorKeys, parseAnchorKeys } from "@harrier/audit";
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

/** Settings of management: the only reader of the environment. Secrets may also come as `…_FILE`. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8082),
  HARRIER_GRPC_PORT: port.default(9082),
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** 32 bytes in base64: seals the gateway key. The same in every replica, and kept for as long as the database. */
  HARRIER_SECRET_KEY: z.string().min(1),
  /** 32 bytes in base64, of this service alone: signs what it sees of the other services' audit trails. Without it they are not signed. */
  HARRIER_AUDIT_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, "32 bytes in base64")
    .optional(),
  /** `<service>=<base64>`, comma separated: the public parts of all services' audit keys. With it the verifier demands their signatures. */
  HARRIER_AUDIT_PUBLIC_KEYS: z.string().transform(readAnchorKeys).optional(),
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
  /** Members that a body of the management interface should not have: a `Warning` header tells of them, they are 400, or nobody is told. */
  HARRIER_UNKNOWN_MEMBERS: z.enum(["warn", "refuse", "ignore"]).default("warn"),
  HARRIER_ROLLOUT_ENGINE_GRPC: z.string().min(1),
  /**
   * How long a request that was let in may be under way, in seconds: the end of a deleted tenant is looked for only after it. More than a signed
   * identity is accepted (20 s, a minute more by the clock of whoever reads it, and that of the gateway may be a minute ahead) and the longest
   * deadline lasts (30 s) together.
   */
  HARRIER_LATE_REQUESTS_SECONDS: z.coerce.number().int().min(0).max(3_600).default(180),
  /** Given to every service; this one emits no events and calls nobody else. */
  HARRIER_KAFKA_BROKERS: z.string().optional(),
  HARRIER_MANAGEMENT_GRPC: z.string().optional(),
});

export type ManagementConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ManagementConfig {
  return loadConfig(settings, env);
}

const verifySettings = settings.pick({ HARRIER_DATABASE_URL: true, HARRIER_AUDIT_PUBLIC_KEYS: true });

/** Settings of the command that verifies the audit trail: the service's own database, and whose signatures it takes. */
export function readVerifyConfig(env: NodeJS.ProcessEnv = process.env): ConfigOf<typeof verifySettings.shape> {
  return loadConfig(verifySettings, env);
}
