// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  EraseTenantArtifactsRequest as _harrier_artifactstore_v1_EraseTenantArtifactsRequest,
  EraseTenantArtifactsRequestInput as _harrier_artifactstore_v1_EraseTenantArtifactsRequestInput,
} from "../../../harrier/artifactstore/v1/EraseTenantArtifactsRequest.ts";
import type {
  EraseTenantArtifactsResponse as _harrier_artifactstore_v1_EraseTenantArtifactsResponse,
  EraseTenantArtifactsResponseInput as _harrier_artifactstore_v1_EraseTenantArtifactsResponseInput,
} from "../../../harrier/artifactstore/v1/EraseTenantArtifactsResponse.ts";
import type {
  ReleaseArtifactRequest as _harrier_artifactstore_v1_ReleaseArtifactRequest,
  ReleaseArtifactRequestInput as _harrier_artifactstore_v1_ReleaseArtifactRequestInput,
} from "../../../harrier/artifactstore/v1/ReleaseArtifactRequest.ts";
import type {
  ReleaseArtifactResponse as _harrier_artifactstore_v1_ReleaseArtifactResponse,
  ReleaseArtifactResponseInput as _harrier_artifactstore_v1_ReleaseArtifactResponseInput,
} from "../../../harrier/artifactstore/v1/ReleaseArtifactResponse.ts";
import type {
  StatBlobRequest as _harrier_artifactstore_v1_StatBlobRequest,
  StatBlobRequestInput as _harrier_artifactstore_v1_StatBlobRequestInput,
} from "../../../harrier/artifactstore/v1/StatBlobRequest.ts";
import type {
  StatBlobResponse as _harrier_artifactstore_v1_StatBlobResponse,
  StatBlobResponseInput as _harrier_artifactstore_v1_StatBlobResponseInput,
} from "../../../harrier/artifactstore/v1/StatBlobResponse.ts";

export interface ArtifactsServiceDefinition extends grpc.ServiceDefinition {
  EraseTenantArtifacts: MethodDefinition<
    _harrier_artifactstore_v1_EraseTenantArtifactsRequestInput,
    _harrier_artifactstore_v1_EraseTenantArtifactsResponseInput,
    _harrier_artifactstore_v1_EraseTenantArtifactsRequest,
    _harrier_artifactstore_v1_EraseTenantArtifactsResponse
  >;
  ReleaseArtifact: MethodDefinition<
    _harrier_artifactstore_v1_ReleaseArtifactRequestInput,
    _harrier_artifactstore_v1_ReleaseArtifactResponseInput,
    _harrier_artifactstore_v1_ReleaseArtifactRequest,
    _harrier_artifactstore_v1_ReleaseArtifactResponse
  >;
  StatBlob: MethodDefinition<
    _harrier_artifactstore_v1_StatBlobRequestInput,
    _harrier_artifactstore_v1_StatBlobResponseInput,
    _harrier_artifactstore_v1_StatBlobRequest,
    _harrier_artifactstore_v1_StatBlobResponse
  >;
}
