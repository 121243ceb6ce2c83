// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

export interface SignInRequestInput {
  username?: string;
  password?: string;
}

export interface SignInRequest {
  username: string;
  password: string;
}
