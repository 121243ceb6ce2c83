// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface DeleteTargetsRequestInput {
  controllerIds?: string[];
}

export interface DeleteTargetsRequest {
  controllerIds: string[];
}
