import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { startManagement } from "./wire.ts";

await runService({ name: "management", config: readConfig, start: startManagement });
