import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { startController } from "./wire.ts";

await runService({ name: "controller", config: readConfig, start: startController });
