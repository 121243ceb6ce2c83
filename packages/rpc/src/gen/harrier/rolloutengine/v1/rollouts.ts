// Generated from protos/harrier/rolloutengine/v1/rollouts.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface EraseTenantRolloutsRequestInput {
  countOnly?: boolean;
}

export interface EraseTenantRolloutsRequest {
  countOnly: boolean;
}

export interface EraseTenantRolloutsResponseInput {
  rows?: number | string | Long;
  done?: boolean;
}

export interface EraseTenantRolloutsResponse {
  rows: number;
  done: boolean;
}

export interface RolloutsServiceDefinition extends grpc.ServiceDefinition {
  EraseTenantRollouts: MethodDefinition<
    EraseTenantRolloutsRequestInput,
    EraseTenantRolloutsResponseInput,
    EraseTenantRolloutsRequest,
    EraseTenantRolloutsResponse
  >;
  StopRolloutsOfSet: MethodDefinition<
    StopRolloutsOfSetRequestInput,
    StopRolloutsOfSetResponseInput,
    StopRolloutsOfSetRequest,
    StopRolloutsOfSetResponse
  >;
}

export interface StopRolloutsOfSetRequestInput {
  setId?: number | string | Long;
  keepRunning?: boolean;
  initiator?: string;
}

export interface StopRolloutsOfSetRequest {
  setId: number;
  keepRunning: boolean;
  initiator: string;
}

export interface StopRolloutsOfSetResponseInput {
  stopping?: number;
}

export interface StopRolloutsOfSetResponse {
  stopping: number;
}
