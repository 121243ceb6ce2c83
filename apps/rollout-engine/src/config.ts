import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

/** Settings of the rollout engine: the only reader of the environment. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8084),
  HARRIER_GRPC_PORT: port.default(9084),
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** 32 bytes in base64, of this service alone: signs what it sees of the other services' audit trails. Without it they are not signed. */
  HARRIER_AUDIT_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, "32 bytes in base64")
    .optional(),
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_MANAGEMENT_GRPC: z.string().min(1),
  /** host:port, comma separated; without it events are kept for a day and then dropped. */
  HARRIER_KAFKA_BROKERS: z.string().min(1).optional(),
  /** `classic`: `/rest/v1` speaks the dialect of `/api/mgmt/v1` too. */
  HARRIER_REST_DIALECT: z.enum(["current", "classic"]).default("current"),
  /** Members that a body of the management interface should not have: a `Warning` header tells of them, they are 400, or nobody is told. */
  HARRIER_UNKNOWN_MEMBERS: z.enum(["warn", "refuse", "ignore"]).default("warn"),
});

export type RolloutEngineConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): RolloutEngineConfig {
  return loadConfig(settings, env);
}
