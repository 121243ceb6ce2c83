import { migrateDatabase } from "@harrier/db";
import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { ownSchema } from "./schema.ts";
import { startManagement } from "./wire.ts";

await runService({
  name: "management",
  config: readConfig,
  start: startManagement,
  migrate: (config) => migrateDatabase(config.HARRIER_DATABASE_URL, ownSchema),
});
