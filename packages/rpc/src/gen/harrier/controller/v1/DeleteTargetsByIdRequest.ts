// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface DeleteTargetsByIdRequestInput {
  targetIds?: number[];
  initiator?: string;
}

export interface DeleteTargetsByIdRequest {
  targetIds: number[];
  initiator: string;
}
