// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export type OpenFenceResponseInput = Record<string, never>;

export type OpenFenceResponse = Record<string, never>;
