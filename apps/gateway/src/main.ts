import { runService, setHeapForBytes } from "@harrier/service";
import { readConfig } from "./config.ts";
import { start } from "./wire.ts";

setHeapForBytes();
await runService({ name: "gateway", config: readConfig, start });
