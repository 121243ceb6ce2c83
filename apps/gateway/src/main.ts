import { letHeapDouble, runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { start } from "./wire.ts";

letHeapDouble();
await runService({ name: "gateway", config: readConfig, start });
