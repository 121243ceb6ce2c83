// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface EraseTenantTargetsRequestInput {
  countOnly?: boolean;
}

export interface EraseTenantTargetsRequest {
  countOnly: boolean;
}
