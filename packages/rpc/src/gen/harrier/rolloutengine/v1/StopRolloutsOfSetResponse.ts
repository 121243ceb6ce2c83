// Generated from protos/harrier/rolloutengine/v1/rollouts.proto by packages/rpc/scripts/generate.mjs

export interface StopRolloutsOfSetResponseInput {
  stopping?: number;
}

export interface StopRolloutsOfSetResponse {
  stopping: number;
}
