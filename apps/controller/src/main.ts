import { migrateDatabase } from "@harrier/db";
import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { ownSchema } from "./schema.ts";
import { startController } from "./wire.ts";

await runService({
  name: "controller",
  config: readConfig,
  start: startController,
  migrate: (config) => migrateDatabase(config.HARRIER_DATABASE_URL, ownSchema),
});
