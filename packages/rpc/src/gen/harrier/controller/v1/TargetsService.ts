// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  ActivateAutoConfirmRequest as _harrier_controller_v1_ActivateAutoConfirmRequest,
  ActivateAutoConfirmRequestInput as _harrier_controller_v1_ActivateAutoConfirmRequestInput,
} from "../../../harrier/controller/v1/ActivateAutoConfirmRequest.ts";
import type {
  ActivateAutoConfirmResponse as _harrier_controller_v1_ActivateAutoConfirmResponse,
  ActivateAutoConfirmResponseInput as _harrier_controller_v1_ActivateAutoConfirmResponseInput,
} from "../../../harrier/controller/v1/ActivateAutoConfirmResponse.ts";
import type {
  AddMetadataRequest as _harrier_controller_v1_AddMetadataRequest,
  AddMetadataRequestInput as _harrier_controller_v1_AddMetadataRequestInput,
} from "../../../harrier/controller/v1/AddMetadataRequest.ts";
import type {
  AddMetadataResponse as _harrier_controller_v1_AddMetadataResponse,
  AddMetadataResponseInput as _harrier_controller_v1_AddMetadataResponseInput,
} from "../../../harrier/controller/v1/AddMetadataResponse.ts";
import type {
  ChangeGroupRequest as _harrier_controller_v1_ChangeGroupRequest,
  ChangeGroupRequestInput as _harrier_controller_v1_ChangeGroupRequestInput,
} from "../../../harrier/controller/v1/ChangeGroupRequest.ts";
import type {
  ChangeGroupResponse as _harrier_controller_v1_ChangeGroupResponse,
  ChangeGroupResponseInput as _harrier_controller_v1_ChangeGroupResponseInput,
} from "../../../harrier/controller/v1/ChangeGroupResponse.ts";
import type {
  ChangeMetadataRequest as _harrier_controller_v1_ChangeMetadataRequest,
  ChangeMetadataRequestInput as _harrier_controller_v1_ChangeMetadataRequestInput,
} from "../../../harrier/controller/v1/ChangeMetadataRequest.ts";
import type {
  ChangeMetadataResponse as _harrier_controller_v1_ChangeMetadataResponse,
  ChangeMetadataResponseInput as _harrier_controller_v1_ChangeMetadataResponseInput,
} from "../../../harrier/controller/v1/ChangeMetadataResponse.ts";
import type {
  ChangeTagRequest as _harrier_controller_v1_ChangeTagRequest,
  ChangeTagRequestInput as _harrier_controller_v1_ChangeTagRequestInput,
} from "../../../harrier/controller/v1/ChangeTagRequest.ts";
import type {
  ChangeTagResponse as _harrier_controller_v1_ChangeTagResponse,
  ChangeTagResponseInput as _harrier_controller_v1_ChangeTagResponseInput,
} from "../../../harrier/controller/v1/ChangeTagResponse.ts";
import type {
  CreateTargetsRequest as _harrier_controller_v1_CreateTargetsRequest,
  CreateTargetsRequestInput as _harrier_controller_v1_CreateTargetsRequestInput,
} from "../../../harrier/controller/v1/CreateTargetsRequest.ts";
import type {
  CreateTargetsResponse as _harrier_controller_v1_CreateTargetsResponse,
  CreateTargetsResponseInput as _harrier_controller_v1_CreateTargetsResponseInput,
} from "../../../harrier/controller/v1/CreateTargetsResponse.ts";
import type {
  DeactivateAutoConfirmRequest as _harrier_controller_v1_DeactivateAutoConfirmRequest,
  DeactivateAutoConfirmRequestInput as _harrier_controller_v1_DeactivateAutoConfirmRequestInput,
} from "../../../harrier/controller/v1/DeactivateAutoConfirmRequest.ts";
import type {
  DeactivateAutoConfirmResponse as _harrier_controller_v1_DeactivateAutoConfirmResponse,
  DeactivateAutoConfirmResponseInput as _harrier_controller_v1_DeactivateAutoConfirmResponseInput,
} from "../../../harrier/controller/v1/DeactivateAutoConfirmResponse.ts";
import type {
  DeleteTargetsByIdRequest as _harrier_controller_v1_DeleteTargetsByIdRequest,
  DeleteTargetsByIdRequestInput as _harrier_controller_v1_DeleteTargetsByIdRequestInput,
} from "../../../harrier/controller/v1/DeleteTargetsByIdRequest.ts";
import type {
  DeleteTargetsByIdResponse as _harrier_controller_v1_DeleteTargetsByIdResponse,
  DeleteTargetsByIdResponseInput as _harrier_controller_v1_DeleteTargetsByIdResponseInput,
} from "../../../harrier/controller/v1/DeleteTargetsByIdResponse.ts";
import type {
  DeleteTargetsRequest as _harrier_controller_v1_DeleteTargetsRequest,
  DeleteTargetsRequestInput as _harrier_controller_v1_DeleteTargetsRequestInput,
} from "../../../harrier/controller/v1/DeleteTargetsRequest.ts";
import type {
  DeleteTargetsResponse as _harrier_controller_v1_DeleteTargetsResponse,
  DeleteTargetsResponseInput as _harrier_controller_v1_DeleteTargetsResponseInput,
} from "../../../harrier/controller/v1/DeleteTargetsResponse.ts";
import type {
  EraseTenantTargetsRequest as _harrier_controller_v1_EraseTenantTargetsRequest,
  EraseTenantTargetsRequestInput as _harrier_controller_v1_EraseTenantTargetsRequestInput,
} from "../../../harrier/controller/v1/EraseTenantTargetsRequest.ts";
import type {
  EraseTenantTargetsResponse as _harrier_controller_v1_EraseTenantTargetsResponse,
  EraseTenantTargetsResponseInput as _harrier_controller_v1_EraseTenantTargetsResponseInput,
} from "../../../harrier/controller/v1/EraseTenantTargetsResponse.ts";
import type {
  ImportTargetsRequest as _harrier_controller_v1_ImportTargetsRequest,
  ImportTargetsRequestInput as _harrier_controller_v1_ImportTargetsRequestInput,
} from "../../../harrier/controller/v1/ImportTargetsRequest.ts";
import type {
  ImportTargetsResponse as _harrier_controller_v1_ImportTargetsResponse,
  ImportTargetsResponseInput as _harrier_controller_v1_ImportTargetsResponseInput,
} from "../../../harrier/controller/v1/ImportTargetsResponse.ts";
import type {
  ReadSecurityTokensRequest as _harrier_controller_v1_ReadSecurityTokensRequest,
  ReadSecurityTokensRequestInput as _harrier_controller_v1_ReadSecurityTokensRequestInput,
} from "../../../harrier/controller/v1/ReadSecurityTokensRequest.ts";
import type {
  ReadSecurityTokensResponse as _harrier_controller_v1_ReadSecurityTokensResponse,
  ReadSecurityTokensResponseInput as _harrier_controller_v1_ReadSecurityTokensResponseInput,
} from "../../../harrier/controller/v1/ReadSecurityTokensResponse.ts";
import type {
  RemoveMetadataRequest as _harrier_controller_v1_RemoveMetadataRequest,
  RemoveMetadataRequestInput as _harrier_controller_v1_RemoveMetadataRequestInput,
} from "../../../harrier/controller/v1/RemoveMetadataRequest.ts";
import type {
  RemoveMetadataResponse as _harrier_controller_v1_RemoveMetadataResponse,
  RemoveMetadataResponseInput as _harrier_controller_v1_RemoveMetadataResponseInput,
} from "../../../harrier/controller/v1/RemoveMetadataResponse.ts";
import type {
  UpdateTargetRequest as _harrier_controller_v1_UpdateTargetRequest,
  UpdateTargetRequestInput as _harrier_controller_v1_UpdateTargetRequestInput,
} from "../../../harrier/controller/v1/UpdateTargetRequest.ts";
import type {
  UpdateTargetResponse as _harrier_controller_v1_UpdateTargetResponse,
  UpdateTargetResponseInput as _harrier_controller_v1_UpdateTargetResponseInput,
} from "../../../harrier/controller/v1/UpdateTargetResponse.ts";

export interface TargetsServiceDefinition extends grpc.ServiceDefinition {
  ActivateAutoConfirm: MethodDefinition<
    _harrier_controller_v1_ActivateAutoConfirmRequestInput,
    _harrier_controller_v1_ActivateAutoConfirmResponseInput,
    _harrier_controller_v1_ActivateAutoConfirmRequest,
    _harrier_controller_v1_ActivateAutoConfirmResponse
  >;
  AddMetadata: MethodDefinition<
    _harrier_controller_v1_AddMetadataRequestInput,
    _harrier_controller_v1_AddMetadataResponseInput,
    _harrier_controller_v1_AddMetadataRequest,
    _harrier_controller_v1_AddMetadataResponse
  >;
  ChangeGroup: MethodDefinition<
    _harrier_controller_v1_ChangeGroupRequestInput,
    _harrier_controller_v1_ChangeGroupResponseInput,
    _harrier_controller_v1_ChangeGroupRequest,
    _harrier_controller_v1_ChangeGroupResponse
  >;
  ChangeMetadata: MethodDefinition<
    _harrier_controller_v1_ChangeMetadataRequestInput,
    _harrier_controller_v1_ChangeMetadataResponseInput,
    _harrier_controller_v1_ChangeMetadataRequest,
    _harrier_controller_v1_ChangeMetadataResponse
  >;
  ChangeTag: MethodDefinition<
    _harrier_controller_v1_ChangeTagRequestInput,
    _harrier_controller_v1_ChangeTagResponseInput,
    _harrier_controller_v1_ChangeTagRequest,
    _harrier_controller_v1_ChangeTagResponse
  >;
  CreateTargets: MethodDefinition<
    _harrier_controller_v1_CreateTargetsRequestInput,
    _harrier_controller_v1_CreateTargetsResponseInput,
    _harrier_controller_v1_CreateTargetsRequest,
    _harrier_controller_v1_CreateTargetsResponse
  >;
  DeactivateAutoConfirm: MethodDefinition<
    _harrier_controller_v1_DeactivateAutoConfirmRequestInput,
    _harrier_controller_v1_DeactivateAutoConfirmResponseInput,
    _harrier_controller_v1_DeactivateAutoConfirmRequest,
    _harrier_controller_v1_DeactivateAutoConfirmResponse
  >;
  DeleteTargets: MethodDefinition<
    _harrier_controller_v1_DeleteTargetsRequestInput,
    _harrier_controller_v1_DeleteTargetsResponseInput,
    _harrier_controller_v1_DeleteTargetsRequest,
    _harrier_controller_v1_DeleteTargetsResponse
  >;
  DeleteTargetsById: MethodDefinition<
    _harrier_controller_v1_DeleteTargetsByIdRequestInput,
    _harrier_controller_v1_DeleteTargetsByIdResponseInput,
    _harrier_controller_v1_DeleteTargetsByIdRequest,
    _harrier_controller_v1_DeleteTargetsByIdResponse
  >;
  EraseTenantTargets: MethodDefinition<
    _harrier_controller_v1_EraseTenantTargetsRequestInput,
    _harrier_controller_v1_EraseTenantTargetsResponseInput,
    _harrier_controller_v1_EraseTenantTargetsRequest,
    _harrier_controller_v1_EraseTenantTargetsResponse
  >;
  ImportTargets: MethodDefinition<
    _harrier_controller_v1_ImportTargetsRequestInput,
    _harrier_controller_v1_ImportTargetsResponseInput,
    _harrier_controller_v1_ImportTargetsRequest,
    _harrier_controller_v1_ImportTargetsResponse
  >;
  ReadSecurityTokens: MethodDefinition<
    _harrier_controller_v1_ReadSecurityTokensRequestInput,
    _harrier_controller_v1_ReadSecurityTokensResponseInput,
    _harrier_controller_v1_ReadSecurityTokensRequest,
    _harrier_controller_v1_ReadSecurityTokensResponse
  >;
  RemoveMetadata: MethodDefinition<
    _harrier_controller_v1_RemoveMetadataRequestInput,
    _harrier_controller_v1_RemoveMetadataResponseInput,
    _harrier_controller_v1_RemoveMetadataRequest,
    _harrier_controller_v1_RemoveMetadataResponse
  >;
  UpdateTarget: MethodDefinition<
    _harrier_controller_v1_UpdateTargetRequestInput,
    _harrier_controller_v1_UpdateTargetResponseInput,
    _harrier_controller_v1_UpdateTargetRequest,
    _harrier_controller_v1_UpdateTargetResponse
  >;
}
