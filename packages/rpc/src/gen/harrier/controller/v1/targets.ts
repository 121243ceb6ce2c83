// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface ActivateAutoConfirmRequestInput {
  controllerId?: string;
  initiator?: string;
  remark?: string;
  _initiator?: "initiator";
  _remark?: "remark";
}

export interface ActivateAutoConfirmRequest {
  controllerId: string;
  initiator?: string;
  remark?: string;
  _initiator?: "initiator";
  _remark?: "remark";
}

export type ActivateAutoConfirmResponseInput = Record<string, never>;

export type ActivateAutoConfirmResponse = Record<string, never>;

export interface AddMetadataRequestInput {
  controllerId?: string;
  entries?: NewMetadataInput[];
  overwrite?: boolean;
}

export interface AddMetadataRequest {
  controllerId: string;
  entries: NewMetadata[];
  overwrite: boolean;
}

export type AddMetadataResponseInput = Record<string, never>;

export type AddMetadataResponse = Record<string, never>;

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

export interface ChangeGroupResponseInput {
  changed?: number;
}

export interface ChangeGroupResponse {
  changed: number;
}

export interface ChangeMetadataRequestInput {
  controllerId?: string;
  key?: string;
  value?: string;
  ifRevisions?: number[];
  _value?: "value";
}

export interface ChangeMetadataRequest {
  controllerId: string;
  key: string;
  value?: string;
  ifRevisions: number[];
  _value?: "value";
}

export interface ChangeMetadataResponseInput {
  value?: string;
  _value?: "value";
}

export interface ChangeMetadataResponse {
  value?: string;
  _value?: "value";
}

export interface ChangeTagRequestInput {
  tagId?: number | string | Long;
  controllerIds?: string[];
  assign?: boolean;
  onlyAll?: boolean;
}

export interface ChangeTagRequest {
  tagId: number;
  controllerIds: string[];
  assign: boolean;
  onlyAll: boolean;
}

export interface ChangeTagResponseInput {
  missing?: string[];
}

export interface ChangeTagResponse {
  missing: string[];
}

export interface ChangeTargetsByIdRequestInput {
  targetIds?: number[];
  change?: string;
  value?: number | string | Long;
  initiator?: string;
}

export interface ChangeTargetsByIdRequest {
  targetIds: number[];
  change: string;
  value: number;
  initiator: string;
}

export interface ChangeTargetsByIdResponseInput {
  reached?: number[];
  changed?: number;
}

export interface ChangeTargetsByIdResponse {
  reached: number[];
  changed: number;
}

export interface CreateTargetsRequestInput {
  targets?: NewTargetInput[];
}

export interface CreateTargetsRequest {
  targets: NewTarget[];
}

export interface CreateTargetsResponseInput {
  targets?: CreatedTargetInput[];
}

export interface CreateTargetsResponse {
  targets: CreatedTarget[];
}

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

export interface DeactivateAutoConfirmRequestInput {
  controllerId?: string;
}

export interface DeactivateAutoConfirmRequest {
  controllerId: string;
}

export type DeactivateAutoConfirmResponseInput = Record<string, never>;

export type DeactivateAutoConfirmResponse = Record<string, never>;

export interface DeleteTargetsByIdRequestInput {
  targetIds?: number[];
  initiator?: string;
}

export interface DeleteTargetsByIdRequest {
  targetIds: number[];
  initiator: string;
}

export interface DeleteTargetsByIdResponseInput {
  deleted?: number;
}

export interface DeleteTargetsByIdResponse {
  deleted: number;
}

export interface DeleteTargetsRequestInput {
  controllerIds?: string[];
  ifRevisions?: number[];
}

export interface DeleteTargetsRequest {
  controllerIds: string[];
  ifRevisions: number[];
}

export interface DeleteTargetsResponseInput {
  deleted?: number;
}

export interface DeleteTargetsResponse {
  deleted: number;
}

export interface EraseTenantTargetsRequestInput {
  countOnly?: boolean;
}

export interface EraseTenantTargetsRequest {
  countOnly: boolean;
}

export interface EraseTenantTargetsResponseInput {
  rows?: number | string | Long;
  done?: boolean;
}

export interface EraseTenantTargetsResponse {
  rows: number;
  done: boolean;
}

export interface ImportProblemInput {
  line?: number;
  controllerId?: string;
  targetTypeId?: number | string | Long;
  code?: string;
  _targetTypeId?: "targetTypeId";
}

export interface ImportProblem {
  line: number;
  controllerId: string;
  targetTypeId?: number;
  code: string;
  _targetTypeId?: "targetTypeId";
}

export interface ImportTargetsRequestInput {
  importId?: string;
  targets?: ImportedTargetInput[];
  last?: boolean;
  skip?: boolean;
  discard?: boolean;
}

export interface ImportTargetsRequest {
  importId: string;
  targets: ImportedTarget[];
  last: boolean;
  skip: boolean;
  discard: boolean;
}

export interface ImportTargetsResponseInput {
  created?: number;
  failed?: number;
  problems?: ImportProblemInput[];
}

export interface ImportTargetsResponse {
  created: number;
  failed: number;
  problems: ImportProblem[];
}

export interface ImportedTargetInput {
  line?: number;
  target?: NewTargetInput | null;
}

export interface ImportedTarget {
  line: number;
  target: NewTarget | null;
}

export interface NewMetadataInput {
  key?: string;
  value?: string;
  _value?: "value";
}

export interface NewMetadata {
  key: string;
  value?: string;
  _value?: "value";
}

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

export interface ReadSecurityTokensRequestInput {
  controllerIds?: string[];
}

export interface ReadSecurityTokensRequest {
  controllerIds: string[];
}

export interface ReadSecurityTokensResponseInput {
  tokens?: { [key: string]: string };
}

export interface ReadSecurityTokensResponse {
  tokens: { [key: string]: string };
}

export interface RemoveMetadataRequestInput {
  controllerId?: string;
  key?: string;
}

export interface RemoveMetadataRequest {
  controllerId: string;
  key: string;
}

export type RemoveMetadataResponseInput = Record<string, never>;

export type RemoveMetadataResponse = Record<string, never>;

export interface TargetsServiceDefinition extends grpc.ServiceDefinition {
  ActivateAutoConfirm: MethodDefinition<
    ActivateAutoConfirmRequestInput,
    ActivateAutoConfirmResponseInput,
    ActivateAutoConfirmRequest,
    ActivateAutoConfirmResponse
  >;
  AddMetadata: MethodDefinition<AddMetadataRequestInput, AddMetadataResponseInput, AddMetadataRequest, AddMetadataResponse>;
  ChangeGroup: MethodDefinition<ChangeGroupRequestInput, ChangeGroupResponseInput, ChangeGroupRequest, ChangeGroupResponse>;
  ChangeMetadata: MethodDefinition<ChangeMetadataRequestInput, ChangeMetadataResponseInput, ChangeMetadataRequest, ChangeMetadataResponse>;
  ChangeTag: MethodDefinition<ChangeTagRequestInput, ChangeTagResponseInput, ChangeTagRequest, ChangeTagResponse>;
  ChangeTargetsById: MethodDefinition<
    ChangeTargetsByIdRequestInput,
    ChangeTargetsByIdResponseInput,
    ChangeTargetsByIdRequest,
    ChangeTargetsByIdResponse
  >;
  CreateTargets: MethodDefinition<CreateTargetsRequestInput, CreateTargetsResponseInput, CreateTargetsRequest, CreateTargetsResponse>;
  DeactivateAutoConfirm: MethodDefinition<
    DeactivateAutoConfirmRequestInput,
    DeactivateAutoConfirmResponseInput,
    DeactivateAutoConfirmRequest,
    DeactivateAutoConfirmResponse
  >;
  DeleteTargets: MethodDefinition<DeleteTargetsRequestInput, DeleteTargetsResponseInput, DeleteTargetsRequest, DeleteTargetsResponse>;
  DeleteTargetsById: MethodDefinition<
    DeleteTargetsByIdRequestInput,
    DeleteTargetsByIdResponseInput,
    DeleteTargetsByIdRequest,
    DeleteTargetsByIdResponse
  >;
  EraseTenantTargets: MethodDefinition<
    EraseTenantTargetsRequestInput,
    EraseTenantTargetsResponseInput,
    EraseTenantTargetsRequest,
    EraseTenantTargetsResponse
  >;
  ImportTargets: MethodDefinition<ImportTargetsRequestInput, ImportTargetsResponseInput, ImportTargetsRequest, ImportTargetsResponse>;
  ReadSecurityTokens: MethodDefinition<
    ReadSecurityTokensRequestInput,
    ReadSecurityTokensResponseInput,
    ReadSecurityTokensRequest,
    ReadSecurityTokensResponse
  >;
  RemoveMetadata: MethodDefinition<RemoveMetadataRequestInput, RemoveMetadataResponseInput, RemoveMetadataRequest, RemoveMetadataResponse>;
  UpdateTarget: MethodDefinition<UpdateTargetRequestInput, UpdateTargetResponseInput, UpdateTargetRequest, UpdateTargetResponse>;
}

export interface UpdateTargetRequestInput {
  controllerId?: string;
  name?: string;
  description?: string;
  address?: string;
  securityToken?: string;
  requestAttributes?: boolean;
  targetTypeId?: number | string | Long;
  group?: string;
  ifRevisions?: number[];
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
  ifRevisions: number[];
  _name?: "name";
  _description?: "description";
  _address?: "address";
  _securityToken?: "securityToken";
  _requestAttributes?: "requestAttributes";
  _targetTypeId?: "targetTypeId";
  _group?: "group";
}

export type UpdateTargetResponseInput = Record<string, never>;

export type UpdateTargetResponse = Record<string, never>;
