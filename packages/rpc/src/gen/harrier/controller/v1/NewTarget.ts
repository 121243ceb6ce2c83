// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface NewTargetInput {
  controllerId?: string;
  name?: string;
  description?: string;
  address?: string;
  securityToken?: string;
  targetTypeId?: number | string | Long;
  group?: string;
  requestAttributes?: boolean;
  _description?: "description";
  _address?: "address";
  _securityToken?: "securityToken";
  _targetTypeId?: "targetTypeId";
  _group?: "group";
  _requestAttributes?: "requestAttributes";
}

export interface NewTarget {
  controllerId: string;
  name: string;
  description?: string;
  address?: string;
  securityToken?: string;
  targetTypeId?: number;
  group?: string;
  requestAttributes?: boolean;
  _description?: "description";
  _address?: "address";
  _securityToken?: "securityToken";
  _targetTypeId?: "targetTypeId";
  _group?: "group";
  _requestAttributes?: "requestAttributes";
}
