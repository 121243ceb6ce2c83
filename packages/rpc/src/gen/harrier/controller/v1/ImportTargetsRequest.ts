// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type {
  ImportedTarget as _harrier_controller_v1_ImportedTarget,
  ImportedTargetInput as _harrier_controller_v1_ImportedTargetInput,
} from "../../../harrier/controller/v1/ImportedTarget.ts";

export interface ImportTargetsRequestInput {
  importId?: string;
  targets?: _harrier_controller_v1_ImportedTargetInput[];
  last?: boolean;
  skip?: boolean;
  discard?: boolean;
}

export interface ImportTargetsRequest {
  importId: string;
  targets: _harrier_controller_v1_ImportedTarget[];
  last: boolean;
  skip: boolean;
  discard: boolean;
}
