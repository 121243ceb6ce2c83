import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { start } from "./wire.ts";

await runService({ name: "gateway", config: readConfig, start });
