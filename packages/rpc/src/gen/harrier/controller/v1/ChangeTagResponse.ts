// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ChangeTagResponseInput {
  missing?: string[];
}

export interface ChangeTagResponse {
  missing: string[];
}
