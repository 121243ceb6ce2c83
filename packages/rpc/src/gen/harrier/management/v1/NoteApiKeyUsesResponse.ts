// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export type NoteApiKeyUsesResponseInput = Record<string, never>;

export type NoteApiKeyUsesResponse = Record<string, never>;
