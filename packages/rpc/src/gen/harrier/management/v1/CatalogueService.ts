// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  AttachArtifactRequest as _harrier_management_v1_AttachArtifactRequest,
  AttachArtifactRequestInput as _harrier_management_v1_AttachArtifactRequestInput,
} from "../../../harrier/management/v1/AttachArtifactRequest.ts";
import type {
  AttachArtifactResponse as _harrier_management_v1_AttachArtifactResponse,
  AttachArtifactResponseInput as _harrier_management_v1_AttachArtifactResponseInput,
} from "../../../harrier/management/v1/AttachArtifactResponse.ts";
import type {
  CheckUploadRequest as _harrier_management_v1_CheckUploadRequest,
  CheckUploadRequestInput as _harrier_management_v1_CheckUploadRequestInput,
} from "../../../harrier/management/v1/CheckUploadRequest.ts";
import type {
  CheckUploadResponse as _harrier_management_v1_CheckUploadResponse,
  CheckUploadResponseInput as _harrier_management_v1_CheckUploadResponseInput,
} from "../../../harrier/management/v1/CheckUploadResponse.ts";
import type {
  ReserveSetRequest as _harrier_management_v1_ReserveSetRequest,
  ReserveSetRequestInput as _harrier_management_v1_ReserveSetRequestInput,
} from "../../../harrier/management/v1/ReserveSetRequest.ts";
import type {
  ReserveSetResponse as _harrier_management_v1_ReserveSetResponse,
  ReserveSetResponseInput as _harrier_management_v1_ReserveSetResponseInput,
} from "../../../harrier/management/v1/ReserveSetResponse.ts";

export interface CatalogueServiceDefinition extends grpc.ServiceDefinition {
  AttachArtifact: MethodDefinition<
    _harrier_management_v1_AttachArtifactRequestInput,
    _harrier_management_v1_AttachArtifactResponseInput,
    _harrier_management_v1_AttachArtifactRequest,
    _harrier_management_v1_AttachArtifactResponse
  >;
  CheckUpload: MethodDefinition<
    _harrier_management_v1_CheckUploadRequestInput,
    _harrier_management_v1_CheckUploadResponseInput,
    _harrier_management_v1_CheckUploadRequest,
    _harrier_management_v1_CheckUploadResponse
  >;
  ReserveSet: MethodDefinition<
    _harrier_management_v1_ReserveSetRequestInput,
    _harrier_management_v1_ReserveSetResponseInput,
    _harrier_management_v1_ReserveSetRequest,
    _harrier_management_v1_ReserveSetResponse
  >;
}
