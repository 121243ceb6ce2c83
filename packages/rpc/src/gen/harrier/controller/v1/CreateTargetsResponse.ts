// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type {
  CreatedTarget as _harrier_controller_v1_CreatedTarget,
  CreatedTargetInput as _harrier_controller_v1_CreatedTargetInput,
} from "../../../harrier/controller/v1/CreatedTarget.ts";

export interface CreateTargetsResponseInput {
  targets?: _harrier_controller_v1_CreatedTargetInput[];
}

export interface CreateTargetsResponse {
  targets: _harrier_controller_v1_CreatedTarget[];
}
