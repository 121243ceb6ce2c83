// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface CreatedTargetInput {
  controllerId?: string;
  id?: number;
  securityToken?: string;
}

export interface CreatedTarget {
  controllerId: string;
  id: number;
  securityToken: string;
}
