// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export type ActivateAutoConfirmResponseInput = Record<string, never>;

export type ActivateAutoConfirmResponse = Record<string, never>;
