import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

/** The settings of rollout-engine. Only this file reads the environment. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8084),
  HARRIER_GRPC_PORT: port.default(9084),
  HARRIER_DATABASE_URL: z.string().min(1),
  /** The same database and role on a standby, where lists are read as far as it has caught up. Without it the primary reads them. */
  HARRIER_STANDBY_DATABASE_URL: z.string().min(1).optional(),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** These 32 bytes in base64 belong to this service alone and sign what it sees of other services' audit trails. Without them nothing is signed. */
  HARRIER_AUDIT_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, "32 bytes in base64")
    .optional(),
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_MANAGEMENT_GRPC: z.string().min(1),
  /** The value is host:port, comma separated. Without it events are kept for a day and then dropped. */
  HARRIER_KAFKA_BROKERS: z.string().min(1).optional(),
  /** Events stay readable by cursor, and can be replayed, for so many days. */
  HARRIER_EVENT_DAYS: z.coerce.number().int().min(2).max(30).default(2),
  /** With `classic` the surface `/rest/v1` speaks the dialect of `/api/mgmt/v1` too. */
  HARRIER_REST_DIALECT: z.enum(["current", "classic"]).default("current"),
  /** Unknown members of a request body are named in a `Warning` header, answered with 400, or ignored. */
  HARRIER_UNKNOWN_MEMBERS: z.enum(["warn", "refuse", "ignore"]).default("warn"),
});

export type RolloutEngineConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): RolloutEngineConfig {
  return loadConfig(settings, env);
}
