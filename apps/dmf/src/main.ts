import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { startDmf } from "./wire.ts";

await runService({ name: "dmf", config: readConfig, start: startDmf });
