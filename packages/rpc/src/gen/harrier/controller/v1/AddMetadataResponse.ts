// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export type AddMetadataResponseInput = Record<string, never>;

export type AddMetadataResponse = Record<string, never>;
