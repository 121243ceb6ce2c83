// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ChangeMetadataResponseInput {
  value?: string;
  _value?: "value";
}

export interface ChangeMetadataResponse {
  value?: string;
  _value?: "value";
}
