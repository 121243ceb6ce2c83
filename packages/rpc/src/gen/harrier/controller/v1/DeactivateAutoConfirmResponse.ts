// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export type DeactivateAutoConfirmResponseInput = Record<string, never>;

export type DeactivateAutoConfirmResponse = Record<string, never>;
