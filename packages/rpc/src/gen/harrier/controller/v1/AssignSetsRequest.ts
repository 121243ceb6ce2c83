// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type {
  AssignmentItem as _harrier_controller_v1_AssignmentItem,
  AssignmentItemInput as _harrier_controller_v1_AssignmentItemInput,
} from "../../../harrier/controller/v1/AssignmentItem.ts";
import type {
  ReservedSet as _harrier_controller_v1_ReservedSet,
  ReservedSetInput as _harrier_controller_v1_ReservedSetInput,
} from "../../../harrier/controller/v1/ReservedSet.ts";

export interface AssignSetsRequestInput {
  sets?: _harrier_controller_v1_ReservedSetInput[];
  items?: _harrier_controller_v1_AssignmentItemInput[];
  initiator?: string;
}

export interface AssignSetsRequest {
  sets: _harrier_controller_v1_ReservedSet[];
  items: _harrier_controller_v1_AssignmentItem[];
  initiator: string;
}
