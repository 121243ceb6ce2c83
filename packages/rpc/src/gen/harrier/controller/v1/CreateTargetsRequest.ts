// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type {
  NewTarget as _harrier_controller_v1_NewTarget,
  NewTargetInput as _harrier_controller_v1_NewTargetInput,
} from "../../../harrier/controller/v1/NewTarget.ts";

export interface CreateTargetsRequestInput {
  targets?: _harrier_controller_v1_NewTargetInput[];
}

export interface CreateTargetsRequest {
  targets: _harrier_controller_v1_NewTarget[];
}
