import { runService } from "@harrier/service";
import { readConfig } from "./config.ts";
import { startArtifactStore } from "./wire.ts";

await runService({ name: "artifact-store", config: readConfig, start: startArtifactStore });
