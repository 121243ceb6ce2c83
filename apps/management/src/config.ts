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
  HARRIER_ADMIN_PASSWORD: z.string().min(1),
  HARRIER_DEFAULT_TENANT: z.string().min(1).max(128).default("DEFAULT"),
  /** `classic`: /rest/v1 answers like /api/mgmt/v1. */
  HARRIER_REST_DIALECT: z.enum(["current", "classic"]).default("current"),
  /** Given to every service; this one emits no events and calls nobody else. */
  HARRIER_KAFKA_BROKERS: z.string().optional(),
  HARRIER_ROLLOUT_ENGINE_GRPC: z.string().optional(),
  HARRIER_MANAGEMENT_GRPC: z.string().optional(),
});

export type ManagementConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ManagementConfig {
  return loadConfig(settings, env);
}
