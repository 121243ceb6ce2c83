// Generated from protos/harrier/controller/v1/device_identity.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  VerifyDeviceRequest as _harrier_controller_v1_VerifyDeviceRequest,
  VerifyDeviceRequestInput as _harrier_controller_v1_VerifyDeviceRequestInput,
} from "../../../harrier/controller/v1/VerifyDeviceRequest.ts";
import type {
  VerifyDeviceResponse as _harrier_controller_v1_VerifyDeviceResponse,
  VerifyDeviceResponseInput as _harrier_controller_v1_VerifyDeviceResponseInput,
} from "../../../harrier/controller/v1/VerifyDeviceResponse.ts";
import type {
  WatchCredentialChangesRequest as _harrier_controller_v1_WatchCredentialChangesRequest,
  WatchCredentialChangesRequestInput as _harrier_controller_v1_WatchCredentialChangesRequestInput,
} from "../../../harrier/controller/v1/WatchCredentialChangesRequest.ts";
import type {
  WatchCredentialChangesResponse as _harrier_controller_v1_WatchCredentialChangesResponse,
  WatchCredentialChangesResponseInput as _harrier_controller_v1_WatchCredentialChangesResponseInput,
} from "../../../harrier/controller/v1/WatchCredentialChangesResponse.ts";

export interface DeviceIdentityServiceDefinition extends grpc.ServiceDefinition {
  VerifyDevice: MethodDefinition<
    _harrier_controller_v1_VerifyDeviceRequestInput,
    _harrier_controller_v1_VerifyDeviceResponseInput,
    _harrier_controller_v1_VerifyDeviceRequest,
    _harrier_controller_v1_VerifyDeviceResponse
  >;
  WatchCredentialChanges: MethodDefinition<
    _harrier_controller_v1_WatchCredentialChangesRequestInput,
    _harrier_controller_v1_WatchCredentialChangesResponseInput,
    _harrier_controller_v1_WatchCredentialChangesRequest,
    _harrier_controller_v1_WatchCredentialChangesResponse
  >;
}
