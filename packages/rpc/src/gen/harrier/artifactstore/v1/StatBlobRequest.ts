// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

export interface StatBlobRequestInput {
  sha256?: string;
}

export interface StatBlobRequest {
  sha256: string;
}
