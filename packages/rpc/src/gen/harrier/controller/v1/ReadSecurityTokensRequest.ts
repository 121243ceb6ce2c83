// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ReadSecurityTokensRequestInput {
  controllerIds?: string[];
}

export interface ReadSecurityTokensRequest {
  controllerIds: string[];
}
