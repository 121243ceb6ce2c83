import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { start } from "./wire.ts";

await runService({
  name: "gateway",
  config: readConfig,
  start,
  // what the drain may take, and then the usual time for all else
  stopLimitMs: (config) => config.HARRIER_DRAIN_MS + config.HARRIER_DRAIN_TRANSFERS_MS + 8_000,
});
