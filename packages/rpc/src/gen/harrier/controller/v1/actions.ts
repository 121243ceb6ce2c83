// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs
import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";

export interface ActionsServiceDefinition extends grpc.ServiceDefinition {
  AssignOffline: MethodDefinition<AssignOfflineRequestInput, AssignOfflineResponseInput, AssignOfflineRequest, AssignOfflineResponse>;
  AssignSet: MethodDefinition<AssignSetRequestInput, AssignSetResponseInput, AssignSetRequest, AssignSetResponse>;
  AssignSets: MethodDefinition<AssignSetsRequestInput, AssignSetsResponseInput, AssignSetsRequest, AssignSetsResponse>;
  AutoAssignChunk: MethodDefinition<
    AutoAssignChunkRequestInput,
    AutoAssignChunkResponseInput,
    AutoAssignChunkRequest,
    AutoAssignChunkResponse
  >;
  CancelAction: MethodDefinition<CancelActionRequestInput, CancelActionResponseInput, CancelActionRequest, CancelActionResponse>;
  CancelSetChunk: MethodDefinition<CancelSetChunkRequestInput, CancelSetChunkResponseInput, CancelSetChunkRequest, CancelSetChunkResponse>;
  CloseFence: MethodDefinition<CloseFenceRequestInput, CloseFenceResponseInput, CloseFenceRequest, CloseFenceResponse>;
  ConfirmAction: MethodDefinition<ConfirmActionRequestInput, ConfirmActionResponseInput, ConfirmActionRequest, ConfirmActionResponse>;
  DeleteActions: MethodDefinition<DeleteActionsRequestInput, DeleteActionsResponseInput, DeleteActionsRequest, DeleteActionsResponse>;
  ForceAction: MethodDefinition<ForceActionRequestInput, ForceActionResponseInput, ForceActionRequest, ForceActionResponse>;
  NoteDownloads: MethodDefinition<NoteDownloadsRequestInput, NoteDownloadsResponseInput, NoteDownloadsRequest, NoteDownloadsResponse>;
  OpenFence: MethodDefinition<OpenFenceRequestInput, OpenFenceResponseInput, OpenFenceRequest, OpenFenceResponse>;
  ProveAction: MethodDefinition<ProveActionRequestInput, ProveActionResponseInput, ProveActionRequest, ProveActionResponse>;
  RetryAction: MethodDefinition<RetryActionRequestInput, RetryActionResponseInput, RetryActionRequest, RetryActionResponse>;
  ScheduleChunk: MethodDefinition<ScheduleChunkRequestInput, ScheduleChunkResponseInput, ScheduleChunkRequest, ScheduleChunkResponse>;
  StartChunk: MethodDefinition<StartChunkRequestInput, StartChunkResponseInput, StartChunkRequest, StartChunkResponse>;
  StopChunk: MethodDefinition<StopChunkRequestInput, StopChunkResponseInput, StopChunkRequest, StopChunkResponse>;
}

export interface AssignOfflineRequestInput {
  set?: ReservedSetInput | null;
  controllerIds?: string[];
  initiator?: string;
}

export interface AssignOfflineRequest {
  set: ReservedSet | null;
  controllerIds: string[];
  initiator: string;
}

export interface AssignOfflineResponseInput {
  alreadyAssigned?: number;
  actions?: AssignedActionInput[];
}

export interface AssignOfflineResponse {
  alreadyAssigned: number;
  actions: AssignedAction[];
}

export interface AssignSetRequestInput {
  set?: ReservedSetInput | null;
  items?: AssignmentItemInput[];
  initiator?: string;
  safeties?: string;
  _safeties?: "safeties";
}

export interface AssignSetRequest {
  set: ReservedSet | null;
  items: AssignmentItem[];
  initiator: string;
  safeties?: string;
  _safeties?: "safeties";
}

export interface AssignSetResponseInput {
  alreadyAssigned?: number;
  actions?: AssignedActionInput[];
}

export interface AssignSetResponse {
  alreadyAssigned: number;
  actions: AssignedAction[];
}

export interface AssignSetsRequestInput {
  sets?: ReservedSetInput[];
  items?: AssignmentItemInput[];
  initiator?: string;
  safeties?: string;
  _safeties?: "safeties";
}

export interface AssignSetsRequest {
  sets: ReservedSet[];
  items: AssignmentItem[];
  initiator: string;
  safeties?: string;
  _safeties?: "safeties";
}

export interface AssignSetsResponseInput {
  alreadyAssigned?: number;
  actions?: AssignedActionInput[];
}

export interface AssignSetsResponse {
  alreadyAssigned: number;
  actions: AssignedAction[];
}

export interface AssignedActionInput {
  id?: number | string | Long;
  controllerId?: string;
}

export interface AssignedAction {
  id: number;
  controllerId: string;
}

export interface AssignmentItemInput {
  controllerId?: string;
  forceType?: string;
  forceTime?: number | string | Long;
  weight?: number;
  maintenanceWindow?: MaintenanceWindowInput | null;
  confirmationRequired?: boolean;
  setIndex?: number;
  safetyIndex?: number;
  _confirmationRequired?: "confirmationRequired";
  _safetyIndex?: "safetyIndex";
}

export interface AssignmentItem {
  controllerId: string;
  forceType: string;
  forceTime: number;
  weight: number;
  maintenanceWindow: MaintenanceWindow | null;
  confirmationRequired?: boolean;
  setIndex: number;
  safetyIndex?: number;
  _confirmationRequired?: "confirmationRequired";
  _safetyIndex?: "safetyIndex";
}

export interface AutoAssignChunkRequestInput {
  filterId?: number | string | Long;
  epoch?: number | string | Long;
  pass?: number | string | Long;
  cursor?: number | string | Long;
  set?: ReservedSetInput | null;
  forceType?: string;
  weight?: number;
  confirmationRequired?: boolean;
  initiator?: string;
  filterName?: string;
  maintenanceWindow?: MaintenanceWindowInput | null;
  safety?: string;
  safetyOfTypes?: SafetyOfTypesInput[];
  _confirmationRequired?: "confirmationRequired";
  _safety?: "safety";
}

export interface AutoAssignChunkRequest {
  filterId: number;
  epoch: number;
  pass: number;
  cursor: number;
  set: ReservedSet | null;
  forceType: string;
  weight: number;
  confirmationRequired?: boolean;
  initiator: string;
  filterName: string;
  maintenanceWindow: MaintenanceWindow | null;
  safety?: string;
  safetyOfTypes: SafetyOfTypes[];
  _confirmationRequired?: "confirmationRequired";
  _safety?: "safety";
}

export interface AutoAssignChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  created?: number;
}

export interface AutoAssignChunkResponse {
  cursor: number;
  done: boolean;
  created: number;
}

export interface CancelActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  force?: boolean;
}

export interface CancelActionRequest {
  controllerId: string;
  actionId: number;
  force: boolean;
}

export type CancelActionResponseInput = Record<string, never>;

export type CancelActionResponse = Record<string, never>;

export interface CancelSetChunkRequestInput {
  setId?: number | string | Long;
  cursor?: number | string | Long;
  force?: boolean;
  initiator?: string;
}

export interface CancelSetChunkRequest {
  setId: number;
  cursor: number;
  force: boolean;
  initiator: string;
}

export interface CancelSetChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  canceled?: number;
}

export interface CancelSetChunkResponse {
  cursor: number;
  done: boolean;
  canceled: number;
}

export interface CloseFenceRequestInput {
  rolloutId?: number | string | Long;
  epoch?: number | string | Long;
}

export interface CloseFenceRequest {
  rolloutId: number;
  epoch: number;
}

export type CloseFenceResponseInput = Record<string, never>;

export type CloseFenceResponse = Record<string, never>;

export interface ConfirmActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  confirmed?: boolean;
  code?: number;
  details?: string[];
  ifRevisions?: number[];
  _code?: "code";
}

export interface ConfirmActionRequest {
  controllerId: string;
  actionId: number;
  confirmed: boolean;
  code?: number;
  details: string[];
  ifRevisions: number[];
  _code?: "code";
}

export type ConfirmActionResponseInput = Record<string, never>;

export type ConfirmActionResponse = Record<string, never>;

export interface DeleteActionsRequestInput {
  controllerId?: string;
  actionIds?: (number | string | Long)[];
  keepLast?: number;
  _keepLast?: "keepLast";
}

export interface DeleteActionsRequest {
  controllerId: string;
  actionIds: number[];
  keepLast?: number;
  _keepLast?: "keepLast";
}

export interface DeleteActionsResponseInput {
  removed?: number;
}

export interface DeleteActionsResponse {
  removed: number;
}

export interface ForceActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  ifRevisions?: number[];
}

export interface ForceActionRequest {
  controllerId: string;
  actionId: number;
  ifRevisions: number[];
}

export type ForceActionResponseInput = Record<string, never>;

export type ForceActionResponse = Record<string, never>;

export interface MaintenanceWindowInput {
  schedule?: string;
  duration?: string;
  timezone?: string;
}

export interface MaintenanceWindow {
  schedule: string;
  duration: string;
  timezone: string;
}

export interface NoteDownloadsRequestInput {
  downloads?: NotedDownloadInput[];
}

export interface NoteDownloadsRequest {
  downloads: NotedDownload[];
}

export interface NoteDownloadsResponseInput {
  noted?: number;
}

export interface NoteDownloadsResponse {
  noted: number;
}

export interface NotedDownloadInput {
  tenantId?: number;
  actionId?: number | string | Long;
  path?: string;
  at?: number | string | Long;
}

export interface NotedDownload {
  tenantId: number;
  actionId: number;
  path: string;
  at: number;
}

export interface OpenFenceRequestInput {
  rolloutId?: number | string | Long;
  epoch?: number | string | Long;
}

export interface OpenFenceRequest {
  rolloutId: number;
  epoch: number;
}

export type OpenFenceResponseInput = Record<string, never>;

export type OpenFenceResponse = Record<string, never>;

export interface ProveActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  proven?: boolean;
  remark?: string;
}

export interface ProveActionRequest {
  controllerId: string;
  actionId: number;
  proven: boolean;
  remark: string;
}

export type ProveActionResponseInput = Record<string, never>;

export type ProveActionResponse = Record<string, never>;

export interface ReservedSetInput {
  id?: number | string | Long;
  name?: string;
  version?: string;
  typeId?: number | string | Long;
  migrationStep?: boolean;
}

export interface ReservedSet {
  id: number;
  name: string;
  version: string;
  typeId: number;
  migrationStep: boolean;
}

export interface RetryActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
}

export interface RetryActionRequest {
  controllerId: string;
  actionId: number;
}

export interface RetryActionResponseInput {
  actionId?: number | string | Long;
}

export interface RetryActionResponse {
  actionId: number;
}

export interface SafetyOfTypesInput {
  targetTypes?: (number | string | Long)[];
  safety?: string;
}

export interface SafetyOfTypes {
  targetTypes: number[];
  safety: string;
}

export interface ScheduleChunkRequestInput {
  rolloutId?: number | string | Long;
  groupId?: number | string | Long;
  epoch?: number | string | Long;
  cursor?: number | string | Long;
  set?: ReservedSetInput | null;
  forceType?: string;
  forceTime?: number | string | Long;
  weight?: number;
  initiator?: string;
  rolloutName?: string;
  groupName?: string;
  maintenanceWindow?: MaintenanceWindowInput | null;
  joining?: boolean;
}

export interface ScheduleChunkRequest {
  rolloutId: number;
  groupId: number;
  epoch: number;
  cursor: number;
  set: ReservedSet | null;
  forceType: string;
  forceTime: number;
  weight: number;
  initiator: string;
  rolloutName: string;
  groupName: string;
  maintenanceWindow: MaintenanceWindow | null;
  joining: boolean;
}

export interface ScheduleChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  created?: number;
}

export interface ScheduleChunkResponse {
  cursor: number;
  done: boolean;
  created: number;
}

export interface StartChunkRequestInput {
  rolloutId?: number | string | Long;
  groupId?: number | string | Long;
  epoch?: number | string | Long;
  cursor?: number | string | Long;
  set?: ReservedSetInput | null;
  initiator?: string;
  rolloutName?: string;
  groupName?: string;
  confirmationRequired?: boolean;
  safety?: string;
  safetyOfTypes?: SafetyOfTypesInput[];
  _confirmationRequired?: "confirmationRequired";
  _safety?: "safety";
}

export interface StartChunkRequest {
  rolloutId: number;
  groupId: number;
  epoch: number;
  cursor: number;
  set: ReservedSet | null;
  initiator: string;
  rolloutName: string;
  groupName: string;
  confirmationRequired?: boolean;
  safety?: string;
  safetyOfTypes: SafetyOfTypes[];
  _confirmationRequired?: "confirmationRequired";
  _safety?: "safety";
}

export interface StartChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  started?: number;
  skipped?: number;
}

export interface StartChunkResponse {
  cursor: number;
  done: boolean;
  started: number;
  skipped: number;
}

export interface StopChunkRequestInput {
  rolloutId?: number | string | Long;
  cursor?: number | string | Long;
  keepRunning?: boolean;
  initiator?: string;
  force?: boolean;
}

export interface StopChunkRequest {
  rolloutId: number;
  cursor: number;
  keepRunning: boolean;
  initiator: string;
  force: boolean;
}

export interface StopChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  removed?: number;
  canceled?: number;
}

export interface StopChunkResponse {
  cursor: number;
  done: boolean;
  removed: number;
  canceled: number;
}
