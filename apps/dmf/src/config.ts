import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

/** These are the settings of dmf; nothing else reads the environment. Secrets may also be given as `…_FILE`. */
const settings = z.object({
  /** The port of health and metrics. */
  HARRIER_HTTP_PORT: port.default(8085),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  /** The message broker, with the user to whom management gives access to all virtual hosts of tenants. */
  HARRIER_AMQP_URL: z.url({ protocol: /^amqps?$/ }),
  /** The address that links to artifacts show, if neither the tenant nor HARRIER_DOWNLOAD_URL of controller names another. */
  HARRIER_PUBLIC_URL: z.url().default("http://127.0.0.1:8080"),
});

export type DmfConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): DmfConfig {
  return loadConfig(settings, env);
}
