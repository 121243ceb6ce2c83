// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export type ReadTokenKeysRequestInput = Record<string, never>;

export type ReadTokenKeysRequest = Record<string, never>;
