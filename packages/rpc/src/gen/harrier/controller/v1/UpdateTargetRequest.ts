// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface UpdateTargetRequestInput {
  controllerId?: string;
  name?: string;
  description?: string;
  address?: string;
  securityToken?: string;
  requestAttributes?: boolean;
  targetTypeId?: number | string | Long;
  group?: string;
  _name?: "name";
  _description?: "description";
  _address?: "address";
  _securityToken?: "securityToken";
  _requestAttributes?: "requestAttributes";
  _targetTypeId?: "targetTypeId";
  _group?: "group";
}

export interface UpdateTargetRequest {
  controllerId: string;
  name?: string;
  description?: string;
  address?: string;
  securityToken?: string;
  requestAttributes?: boolean;
  targetTypeId?: number;
  group?: string;
  _name?: "name";
  _description?: "description";
  _address?: "address";
  _securityToken?: "securityToken";
  _requestAttributes?: "requestAttributes";
  _targetTypeId?: "targetTypeId";
  _group?: "group";
}
