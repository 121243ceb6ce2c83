// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";
import type {
  MaintenanceWindow as _harrier_controller_v1_MaintenanceWindow,
  MaintenanceWindowInput as _harrier_controller_v1_MaintenanceWindowInput,
} from "../../../harrier/controller/v1/MaintenanceWindow.ts";

export interface AssignmentItemInput {
  controllerId?: string;
  forceType?: string;
  forceTime?: number | string | Long;
  weight?: number;
  maintenanceWindow?: _harrier_controller_v1_MaintenanceWindowInput | null;
  confirmationRequired?: boolean;
  setIndex?: number;
  _confirmationRequired?: "confirmationRequired";
}

export interface AssignmentItem {
  controllerId: string;
  forceType: string;
  forceTime: number;
  weight: number;
  maintenanceWindow: _harrier_controller_v1_MaintenanceWindow | null;
  confirmationRequired?: boolean;
  setIndex: number;
  _confirmationRequired?: "confirmationRequired";
}
