// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

export interface DeleteActionsResponseInput {
  removed?: number;
}

export interface DeleteActionsResponse {
  removed: number;
}
