// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ReadSecurityTokensResponseInput {
  tokens?: { [key: string]: string };
}

export interface ReadSecurityTokensResponse {
  tokens: { [key: string]: string };
}
