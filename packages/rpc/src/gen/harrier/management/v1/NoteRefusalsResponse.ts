// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export type NoteRefusalsResponseInput = Record<string, never>;

export type NoteRefusalsResponse = Record<string, never>;
