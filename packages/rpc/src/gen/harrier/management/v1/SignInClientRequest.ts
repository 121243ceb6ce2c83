// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export interface SignInClientRequestInput {
  clientId?: string;
  scopes?: string[];
  generation?: number;
}

export interface SignInClientRequest {
  clientId: string;
  scopes: string[];
  generation: number;
}
