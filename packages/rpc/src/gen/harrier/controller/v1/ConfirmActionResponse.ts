// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export type ConfirmActionResponseInput = Record<string, never>;

export type ConfirmActionResponse = Record<string, never>;
