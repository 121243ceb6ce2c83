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

/** Settings of controller: the only reader of the environment. Each may also come as `…_FILE`. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8081),
  HARRIER_GRPC_PORT: port.default(9081),
  /** This service's own role. */
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** 32 bytes, base64: seals what must be read back, the targets' security tokens. */
  HARRIER_SECRET_KEY: z.string().min(1),
  /** Shape of artifact links: classic, hawkbit, or a pattern for some of them; a tenant's setting `artifact.links` comes first. */
  HARRIER_ARTIFACT_LINKS: linkPatterns.default("classic"),
  /** Where links let devices download from; without it from the address that they called. A tenant's `artifact.links.host` comes first. */
  HARRIER_DOWNLOAD_URL: z.string().refine(isDownloadUrl, "must be a URL like https://files.example.com").optional(),
  /** host:port, comma separated; without it events are kept for a day and then dropped. */
  HARRIER_KAFKA_BROKERS: z.string().min(1).optional(),
});

export type ControllerConfig = ConfigOf<typeof settings.shape>;

export function readConfig(env: NodeJS.ProcessEnv = process.env): ControllerConfig {
  return loadConfig(settings, env);
}
