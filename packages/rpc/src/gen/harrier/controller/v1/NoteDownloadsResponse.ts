// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export interface NoteDownloadsResponseInput {
  noted?: number;
}

export interface NoteDownloadsResponse {
  noted: number;
}
