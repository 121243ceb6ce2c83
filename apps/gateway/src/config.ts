import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

/** Settings of the gateway; this file is the only reader of its environment. Each may also come as `…_FILE`. */
const gatewayConfig = z.object({
  /** Where the outside comes in. */
  HARRIER_HTTP_PORT: port.default(8080),
  /** Metrics on an internal port of their own; absent: none. */
  HARRIER_METRICS_PORT: port.optional(),
  /** Replicas of each service, comma separated: `http://host:port`. */
  HARRIER_CONTROLLER_HTTP: z.string().min(1),
  HARRIER_MANAGEMENT_HTTP: z.string().min(1),
  HARRIER_ARTIFACT_STORE_HTTP: z.string().min(1),
  HARRIER_ROLLOUT_ENGINE_HTTP: z.string().min(1),
  /** `host:port`, comma separated. */
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_MANAGEMENT_GRPC: z.string().min(1),
  /** Not called yet; given to every service alike. */
  HARRIER_ARTIFACT_STORE_GRPC: z.string().optional(),
  HARRIER_ROLLOUT_ENGINE_GRPC: z.string().optional(),
  /** Signing keys, one set per audience: `controller=k1:<base64>;…`. */
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** Address that links show; absent: http and the Host header of the request. */
  HARRIER_PUBLIC_URL: z.url().optional(),
  /** Seconds after which a credential is verified again, whatever the change stream said. */
  HARRIER_CREDENTIAL_TTL: z.coerce.number().int().min(1).max(86_400).default(300),
});

export type GatewayConfig = ConfigOf<(typeof gatewayConfig)["shape"]>;

export const readConfig = (): GatewayConfig => loadConfig(gatewayConfig, process.env);
