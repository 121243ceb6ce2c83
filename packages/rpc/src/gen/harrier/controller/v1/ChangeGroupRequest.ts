// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

export interface ChangeGroupRequestInput {
  group?: string;
  controllerIds?: string[];
  targetIds?: number[];
  _group?: "group";
}

export interface ChangeGroupRequest {
  group?: string;
  controllerIds: string[];
  targetIds: number[];
  _group?: "group";
}
