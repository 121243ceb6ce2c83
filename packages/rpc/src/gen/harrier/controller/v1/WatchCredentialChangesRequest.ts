// Generated from protos/harrier/controller/v1/device_identity.proto by packages/rpc/scripts/generate.mjs

export type WatchCredentialChangesRequestInput = Record<string, never>;

export type WatchCredentialChangesRequest = Record<string, never>;
