// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export type CancelActionResponseInput = Record<string, never>;

export type CancelActionResponse = Record<string, never>;
