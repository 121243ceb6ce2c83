// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ChangeGroupResponseInput {
  changed?: number;
}

export interface ChangeGroupResponse {
  changed: number;
}
