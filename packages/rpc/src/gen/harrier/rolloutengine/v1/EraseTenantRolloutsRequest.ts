// Generated from protos/harrier/rolloutengine/v1/rollouts.proto by packages/rpc/scripts/generate.mjs

export interface EraseTenantRolloutsRequestInput {
  countOnly?: boolean;
}

export interface EraseTenantRolloutsRequest {
  countOnly: boolean;
}
