// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export type ForceActionResponseInput = Record<string, never>;

export type ForceActionResponse = Record<string, never>;
