// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface DeleteTargetsResponseInput {
  deleted?: number;
}

export interface DeleteTargetsResponse {
  deleted: number;
}
