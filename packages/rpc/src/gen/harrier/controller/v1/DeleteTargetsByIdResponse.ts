// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface DeleteTargetsByIdResponseInput {
  deleted?: number;
}

export interface DeleteTargetsByIdResponse {
  deleted: number;
}
