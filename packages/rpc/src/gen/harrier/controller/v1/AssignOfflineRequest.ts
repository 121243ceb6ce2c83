// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type {
  ReservedSet as _harrier_controller_v1_ReservedSet,
  ReservedSetInput as _harrier_controller_v1_ReservedSetInput,
} from "../../../harrier/controller/v1/ReservedSet.ts";

export interface AssignOfflineRequestInput {
  set?: _harrier_controller_v1_ReservedSetInput | null;
  controllerIds?: string[];
  initiator?: string;
}

export interface AssignOfflineRequest {
  set: _harrier_controller_v1_ReservedSet | null;
  controllerIds: string[];
  initiator: string;
}
