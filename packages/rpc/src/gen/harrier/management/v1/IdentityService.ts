// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  SignInRequest as _harrier_management_v1_SignInRequest,
  SignInRequestInput as _harrier_management_v1_SignInRequestInput,
} from "../../../harrier/management/v1/SignInRequest.ts";
import type {
  SignInResponse as _harrier_management_v1_SignInResponse,
  SignInResponseInput as _harrier_management_v1_SignInResponseInput,
} from "../../../harrier/management/v1/SignInResponse.ts";
import type {
  WatchPrincipalChangesRequest as _harrier_management_v1_WatchPrincipalChangesRequest,
  WatchPrincipalChangesRequestInput as _harrier_management_v1_WatchPrincipalChangesRequestInput,
} from "../../../harrier/management/v1/WatchPrincipalChangesRequest.ts";
import type {
  WatchPrincipalChangesResponse as _harrier_management_v1_WatchPrincipalChangesResponse,
  WatchPrincipalChangesResponseInput as _harrier_management_v1_WatchPrincipalChangesResponseInput,
} from "../../../harrier/management/v1/WatchPrincipalChangesResponse.ts";

export interface IdentityServiceDefinition extends grpc.ServiceDefinition {
  SignIn: MethodDefinition<
    _harrier_management_v1_SignInRequestInput,
    _harrier_management_v1_SignInResponseInput,
    _harrier_management_v1_SignInRequest,
    _harrier_management_v1_SignInResponse
  >;
  WatchPrincipalChanges: MethodDefinition<
    _harrier_management_v1_WatchPrincipalChangesRequestInput,
    _harrier_management_v1_WatchPrincipalChangesResponseInput,
    _harrier_management_v1_WatchPrincipalChangesRequest,
    _harrier_management_v1_WatchPrincipalChangesResponse
  >;
}
