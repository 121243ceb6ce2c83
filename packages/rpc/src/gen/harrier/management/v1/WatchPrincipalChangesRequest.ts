// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export type WatchPrincipalChangesRequestInput = Record<string, never>;

export type WatchPrincipalChangesRequest = Record<string, never>;
