// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";
import type {
  ReservedSet as _harrier_controller_v1_ReservedSet,
  ReservedSetInput as _harrier_controller_v1_ReservedSetInput,
} from "../../../harrier/controller/v1/ReservedSet.ts";

export interface StartChunkRequestInput {
  rolloutId?: number | string | Long;
  groupId?: number | string | Long;
  epoch?: number | string | Long;
  cursor?: number | string | Long;
  set?: _harrier_controller_v1_ReservedSetInput | null;
  initiator?: string;
  rolloutName?: string;
  groupName?: string;
  confirmationRequired?: boolean;
  _confirmationRequired?: "confirmationRequired";
}

export interface StartChunkRequest {
  rolloutId: number;
  groupId: number;
  epoch: number;
  cursor: number;
  set: _harrier_controller_v1_ReservedSet | null;
  initiator: string;
  rolloutName: string;
  groupName: string;
  confirmationRequired?: boolean;
  _confirmationRequired?: "confirmationRequired";
}
