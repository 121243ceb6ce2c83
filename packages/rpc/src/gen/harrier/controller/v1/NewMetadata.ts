// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface NewMetadataInput {
  key?: string;
  value?: string;
  _value?: "value";
}

export interface NewMetadata {
  key: string;
  value?: string;
  _value?: "value";
}
