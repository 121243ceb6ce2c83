// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface ArtifactsServiceDefinition extends grpc.ServiceDefinition {
  EraseTenantArtifacts: MethodDefinition<
    EraseTenantArtifactsRequestInput,
    EraseTenantArtifactsResponseInput,
    EraseTenantArtifactsRequest,
    EraseTenantArtifactsResponse
  >;
  ReleaseArtifact: MethodDefinition<
    ReleaseArtifactRequestInput,
    ReleaseArtifactResponseInput,
    ReleaseArtifactRequest,
    ReleaseArtifactResponse
  >;
  StatBlob: MethodDefinition<StatBlobRequestInput, StatBlobResponseInput, StatBlobRequest, StatBlobResponse>;
}

export interface EraseTenantArtifactsRequestInput {
  countOnly?: boolean;
}

export interface EraseTenantArtifactsRequest {
  countOnly: boolean;
}

export interface EraseTenantArtifactsResponseInput {
  rows?: number | string | Long;
  done?: boolean;
}

export interface EraseTenantArtifactsResponse {
  rows: number;
  done: boolean;
}

export interface ReleaseArtifactRequestInput {
  artifactId?: number | string | Long;
  sha256?: string;
}

export interface ReleaseArtifactRequest {
  artifactId: number;
  sha256: string;
}

export type ReleaseArtifactResponseInput = Record<string, never>;

export type ReleaseArtifactResponse = Record<string, never>;

export interface StatBlobRequestInput {
  sha256?: string;
}

export interface StatBlobRequest {
  sha256: string;
}

export interface StatBlobResponseInput {
  found?: boolean;
  size?: number | string | Long;
}

export interface StatBlobResponse {
  found: boolean;
  size: number;
}
