// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";
import type {
  MaintenanceWindow as _harrier_controller_v1_MaintenanceWindow,
  MaintenanceWindowInput as _harrier_controller_v1_MaintenanceWindowInput,
} from "../../../harrier/controller/v1/MaintenanceWindow.ts";
import type {
  ReservedSet as _harrier_controller_v1_ReservedSet,
  ReservedSetInput as _harrier_controller_v1_ReservedSetInput,
} from "../../../harrier/controller/v1/ReservedSet.ts";

export interface AutoAssignChunkRequestInput {
  filterId?: number | string | Long;
  epoch?: number | string | Long;
  pass?: number | string | Long;
  cursor?: number | string | Long;
  set?: _harrier_controller_v1_ReservedSetInput | null;
  forceType?: string;
  weight?: number;
  confirmationRequired?: boolean;
  initiator?: string;
  filterName?: string;
  maintenanceWindow?: _harrier_controller_v1_MaintenanceWindowInput | null;
  _confirmationRequired?: "confirmationRequired";
}

export interface AutoAssignChunkRequest {
  filterId: number;
  epoch: number;
  pass: number;
  cursor: number;
  set: _harrier_controller_v1_ReservedSet | null;
  forceType: string;
  weight: number;
  confirmationRequired?: boolean;
  initiator: string;
  filterName: string;
  maintenanceWindow: _harrier_controller_v1_MaintenanceWindow | null;
  _confirmationRequired?: "confirmationRequired";
}
