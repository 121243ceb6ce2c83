// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface RemoveMetadataRequestInput {
  controllerId?: string;
  key?: string;
}

export interface RemoveMetadataRequest {
  controllerId: string;
  key: string;
}
