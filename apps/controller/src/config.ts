import { isDownloadUrl, parseArtifactLinks } from "@harrier/contracts";
import { type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";

const linkPatterns = z.string().superRefine((text, context) => {
  try {
    parseArtifactLinks(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: (error as Error).message });
  }
});

/** The settings of controller; this file alone reads the environment. Each may also come as `…_FILE`. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8081),
  HARRIER_GRPC_PORT: port.default(9081),
  /** The URL has the role of this service alone. */
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** The key has 32 bytes, base64; it seals what must be read back, the targets' security tokens. */
  HARRIER_SECRET_KEY: z.string().min(1),
  /** The pattern of artifact links: classic, hawkbit, or a pattern for some of them; a tenant's setting `artifact.links` takes precedence. */
  HARRIER_ARTIFACT_LINKS: linkPatterns.default("classic"),
  /** The address from which links let devices download; without it, the one that they called. A tenant's `artifact.links.host` takes precedence. */
  HARRIER_DOWNLOAD_URL: z.string().refine(isDownloadUrl, "must be a URL like https://files.example.com").optional(),
  /** The brokers as host:port, comma separated; without them events are kept for a day and then dropped. */
  HARRIER_KAFKA_BROKERS: z.string().min(1).optional(),
  /** Events stay readable by cursor, and can be replayed, for so many days. */
  HARRIER_EVENT_DAYS: z.coerce.number().int().min(2).max(30).default(2),
});

export type ControllerConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ControllerConfig {
  return loadConfig(settings, env);
}
