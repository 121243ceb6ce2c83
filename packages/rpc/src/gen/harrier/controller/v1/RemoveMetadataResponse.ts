// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export type RemoveMetadataResponseInput = Record<string, never>;

export type RemoveMetadataResponse = Record<string, never>;
