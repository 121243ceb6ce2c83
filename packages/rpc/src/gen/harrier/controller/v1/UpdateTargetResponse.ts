// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export type UpdateTargetResponseInput = Record<string, never>;

export type UpdateTargetResponse = Record<string, never>;
