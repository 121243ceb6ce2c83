import { migrateDatabase } from "@harrier/db";
import { runService, setHeapForBytes } from "@harrier/service";
import { readConfig } from "./config.ts";
import { ownSchema } from "./schema.ts";
import { scrubCommand } from "./scrub/scrub-command.ts";
import { startArtifactStore } from "./wire.ts";

setHeapForBytes();
await runService({
  name: "artifact-store",
  config: readConfig,
  start: startArtifactStore,
  commands: { scrub: scrubCommand },
  migrate: (config) => migrateDatabase(config.HARRIER_DATABASE_URL, ownSchema),
});
