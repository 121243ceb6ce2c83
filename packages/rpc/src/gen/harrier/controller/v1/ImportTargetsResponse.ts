// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type {
  ImportProblem as _harrier_controller_v1_ImportProblem,
  ImportProblemInput as _harrier_controller_v1_ImportProblemInput,
} from "../../../harrier/controller/v1/ImportProblem.ts";

export interface ImportTargetsResponseInput {
  created?: number;
  failed?: number;
  problems?: _harrier_controller_v1_ImportProblemInput[];
}

export interface ImportTargetsResponse {
  created: number;
  failed: number;
  problems: _harrier_controller_v1_ImportProblem[];
}
