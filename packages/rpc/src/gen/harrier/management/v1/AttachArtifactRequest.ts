// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

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
