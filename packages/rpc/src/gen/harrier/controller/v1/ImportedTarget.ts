// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type {
  NewTarget as _harrier_controller_v1_NewTarget,
  NewTargetInput as _harrier_controller_v1_NewTargetInput,
} from "../../../harrier/controller/v1/NewTarget.ts";

export interface ImportedTargetInput {
  line?: number;
  target?: _harrier_controller_v1_NewTargetInput | null;
}

export interface ImportedTarget {
  line: number;
  target: _harrier_controller_v1_NewTarget | null;
}
