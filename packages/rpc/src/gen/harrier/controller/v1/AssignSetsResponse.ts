// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type {
  AssignedAction as _harrier_controller_v1_AssignedAction,
  AssignedActionInput as _harrier_controller_v1_AssignedActionInput,
} from "../../../harrier/controller/v1/AssignedAction.ts";

export interface AssignSetsResponseInput {
  alreadyAssigned?: number;
  actions?: _harrier_controller_v1_AssignedActionInput[];
}

export interface AssignSetsResponse {
  alreadyAssigned: number;
  actions: _harrier_controller_v1_AssignedAction[];
}
