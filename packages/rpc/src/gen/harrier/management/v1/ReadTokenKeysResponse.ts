// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export interface ReadTokenKeysResponseInput {
  issuer?: string;
  audience?: string;
  jwks?: string;
}

export interface ReadTokenKeysResponse {
  issuer: string;
  audience: string;
  jwks: string;
}
