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

export interface ScheduleChunkRequestInput {
  rolloutId?: number | string | Long;
  groupId?: number | string | Long;
  epoch?: number | string | Long;
  cursor?: number | string | Long;
  set?: _harrier_controller_v1_ReservedSetInput | null;
  forceType?: string;
  forceTime?: number | string | Long;
  weight?: number;
  initiator?: string;
  rolloutName?: string;
  groupName?: string;
  maintenanceWindow?: _harrier_controller_v1_MaintenanceWindowInput | null;
  joining?: boolean;
}

export interface ScheduleChunkRequest {
  rolloutId: number;
  groupId: number;
  epoch: number;
  cursor: number;
  set: _harrier_controller_v1_ReservedSet | null;
  forceType: string;
  forceTime: number;
  weight: number;
  initiator: string;
  rolloutName: string;
  groupName: string;
  maintenanceWindow: _harrier_controller_v1_MaintenanceWindow | null;
  joining: boolean;
}
