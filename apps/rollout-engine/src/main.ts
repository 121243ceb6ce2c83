import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { startRolloutEngine } from "./wire.ts";

await runService({ name: "rollout-engine", config: readConfig, start: startRolloutEngine });
