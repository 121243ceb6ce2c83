import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

/** Settings of controller: the only reader of the environment. Each may also come as `…_FILE`. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8081),
  HARRIER_GRPC_PORT: port.default(9081),
  /** This service's own role. */
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** 32 bytes, base64: seals what must be read back, the targets' security tokens. */
  HARRIER_SECRET_KEY: z.string().min(1),
  /** host:port, comma separated; without it events are kept for a day and then dropped. */
  HARRIER_KAFKA_BROKERS: z.string().min(1).optional(),
});

export type ControllerConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ControllerConfig {
  return loadConfig(settings, env);
}
