// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export type CloseFenceResponseInput = Record<string, never>;

export type CloseFenceResponse = Record<string, never>;
