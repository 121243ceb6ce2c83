// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface AttachArtifactRequestInput {
  moduleId?: number | string | Long;
  filename?: string;
  size?: number | string | Long;
  sha1?: string;
  md5?: string;
  sha256?: string;
  uploader?: string;
}

export interface AttachArtifactRequest {
  moduleId: number;
  filename: string;
  size: number;
  sha1: string;
  md5: string;
  sha256: string;
  uploader: string;
}

export interface AttachArtifactResponseInput {
  id?: number | string | Long;
  createdBy?: string;
  createdAt?: number | string | Long;
}

export interface AttachArtifactResponse {
  id: number;
  createdBy: string;
  createdAt: number;
}

export interface CatalogueServiceDefinition extends grpc.ServiceDefinition {
  AttachArtifact: MethodDefinition<AttachArtifactRequestInput, AttachArtifactResponseInput, AttachArtifactRequest, AttachArtifactResponse>;
  CheckUpload: MethodDefinition<CheckUploadRequestInput, CheckUploadResponseInput, CheckUploadRequest, CheckUploadResponse>;
  ReserveSet: MethodDefinition<ReserveSetRequestInput, ReserveSetResponseInput, ReserveSetRequest, ReserveSetResponse>;
}

export interface CheckUploadRequestInput {
  moduleId?: number | string | Long;
  filename?: string;
}

export interface CheckUploadRequest {
  moduleId: number;
  filename: string;
}

export interface CheckUploadResponseInput {
  maxBytes?: number | string | Long;
  storageBound?: boolean;
  storageLeft?: number | string | Long;
}

export interface CheckUploadResponse {
  maxBytes: number;
  storageBound: boolean;
  storageLeft: number;
}

export interface ReserveSetRequestInput {
  setId?: number | string | Long;
}

export interface ReserveSetRequest {
  setId: number;
}

export interface ReserveSetResponseInput {
  id?: number | string | Long;
  name?: string;
  version?: string;
  typeId?: number | string | Long;
  migrationStep?: boolean;
  revision?: number | string | Long;
}

export interface ReserveSetResponse {
  id: number;
  name: string;
  version: string;
  typeId: number;
  migrationStep: boolean;
  revision: number;
}
