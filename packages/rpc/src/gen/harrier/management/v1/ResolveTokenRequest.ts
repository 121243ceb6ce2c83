// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export interface ResolveTokenRequestInput {
  tenant?: string;
  user?: string;
  scopes?: string[];
}

export interface ResolveTokenRequest {
  tenant: string;
  user: string;
  scopes: string[];
}
