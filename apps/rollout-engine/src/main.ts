import { migrateDatabase } from "@harrier/db";
import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { ownSchema } from "./schema.ts";
import { startRolloutEngine } from "./wire.ts";

await runService({
  name: "rollout-engine",
  config: readConfig,
  start: startRolloutEngine,
  migrate: (config) => migrateDatabase(config.HARRIER_DATABASE_URL, ownSchema),
});
