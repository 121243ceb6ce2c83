// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ChangeMetadataRequestInput {
  controllerId?: string;
  key?: string;
  value?: string;
  _value?: "value";
}

export interface ChangeMetadataRequest {
  controllerId: string;
  key: string;
  value?: string;
  _value?: "value";
}
