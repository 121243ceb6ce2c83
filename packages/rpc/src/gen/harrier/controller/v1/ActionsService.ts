// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  AssignOfflineRequest as _harrier_controller_v1_AssignOfflineRequest,
  AssignOfflineRequestInput as _harrier_controller_v1_AssignOfflineRequestInput,
} from "../../../harrier/controller/v1/AssignOfflineRequest.ts";
import type {
  AssignOfflineResponse as _harrier_controller_v1_AssignOfflineResponse,
  AssignOfflineResponseInput as _harrier_controller_v1_AssignOfflineResponseInput,
} from "../../../harrier/controller/v1/AssignOfflineResponse.ts";
import type {
  AssignSetRequest as _harrier_controller_v1_AssignSetRequest,
  AssignSetRequestInput as _harrier_controller_v1_AssignSetRequestInput,
} from "../../../harrier/controller/v1/AssignSetRequest.ts";
import type {
  AssignSetResponse as _harrier_controller_v1_AssignSetResponse,
  AssignSetResponseInput as _harrier_controller_v1_AssignSetResponseInput,
} from "../../../harrier/controller/v1/AssignSetResponse.ts";
import type {
  AssignSetsRequest as _harrier_controller_v1_AssignSetsRequest,
  AssignSetsRequestInput as _harrier_controller_v1_AssignSetsRequestInput,
} from "../../../harrier/controller/v1/AssignSetsRequest.ts";
import type {
  AssignSetsResponse as _harrier_controller_v1_AssignSetsResponse,
  AssignSetsResponseInput as _harrier_controller_v1_AssignSetsResponseInput,
} from "../../../harrier/controller/v1/AssignSetsResponse.ts";
import type {
  AutoAssignChunkRequest as _harrier_controller_v1_AutoAssignChunkRequest,
  AutoAssignChunkRequestInput as _harrier_controller_v1_AutoAssignChunkRequestInput,
} from "../../../harrier/controller/v1/AutoAssignChunkRequest.ts";
import type {
  AutoAssignChunkResponse as _harrier_controller_v1_AutoAssignChunkResponse,
  AutoAssignChunkResponseInput as _harrier_controller_v1_AutoAssignChunkResponseInput,
} from "../../../harrier/controller/v1/AutoAssignChunkResponse.ts";
import type {
  CancelActionRequest as _harrier_controller_v1_CancelActionRequest,
  CancelActionRequestInput as _harrier_controller_v1_CancelActionRequestInput,
} from "../../../harrier/controller/v1/CancelActionRequest.ts";
import type {
  CancelActionResponse as _harrier_controller_v1_CancelActionResponse,
  CancelActionResponseInput as _harrier_controller_v1_CancelActionResponseInput,
} from "../../../harrier/controller/v1/CancelActionResponse.ts";
import type {
  CancelSetChunkRequest as _harrier_controller_v1_CancelSetChunkRequest,
  CancelSetChunkRequestInput as _harrier_controller_v1_CancelSetChunkRequestInput,
} from "../../../harrier/controller/v1/CancelSetChunkRequest.ts";
import type {
  CancelSetChunkResponse as _harrier_controller_v1_CancelSetChunkResponse,
  CancelSetChunkResponseInput as _harrier_controller_v1_CancelSetChunkResponseInput,
} from "../../../harrier/controller/v1/CancelSetChunkResponse.ts";
import type {
  CloseFenceRequest as _harrier_controller_v1_CloseFenceRequest,
  CloseFenceRequestInput as _harrier_controller_v1_CloseFenceRequestInput,
} from "../../../harrier/controller/v1/CloseFenceRequest.ts";
import type {
  CloseFenceResponse as _harrier_controller_v1_CloseFenceResponse,
  CloseFenceResponseInput as _harrier_controller_v1_CloseFenceResponseInput,
} from "../../../harrier/controller/v1/CloseFenceResponse.ts";
import type {
  ConfirmActionRequest as _harrier_controller_v1_ConfirmActionRequest,
  ConfirmActionRequestInput as _harrier_controller_v1_ConfirmActionRequestInput,
} from "../../../harrier/controller/v1/ConfirmActionRequest.ts";
import type {
  ConfirmActionResponse as _harrier_controller_v1_ConfirmActionResponse,
  ConfirmActionResponseInput as _harrier_controller_v1_ConfirmActionResponseInput,
} from "../../../harrier/controller/v1/ConfirmActionResponse.ts";
import type {
  DeleteActionsRequest as _harrier_controller_v1_DeleteActionsRequest,
  DeleteActionsRequestInput as _harrier_controller_v1_DeleteActionsRequestInput,
} from "../../../harrier/controller/v1/DeleteActionsRequest.ts";
import type {
  DeleteActionsResponse as _harrier_controller_v1_DeleteActionsResponse,
  DeleteActionsResponseInput as _harrier_controller_v1_DeleteActionsResponseInput,
} from "../../../harrier/controller/v1/DeleteActionsResponse.ts";
import type {
  ForceActionRequest as _harrier_controller_v1_ForceActionRequest,
  ForceActionRequestInput as _harrier_controller_v1_ForceActionRequestInput,
} from "../../../harrier/controller/v1/ForceActionRequest.ts";
import type {
  ForceActionResponse as _harrier_controller_v1_ForceActionResponse,
  ForceActionResponseInput as _harrier_controller_v1_ForceActionResponseInput,
} from "../../../harrier/controller/v1/ForceActionResponse.ts";
import type {
  NoteDownloadsRequest as _harrier_controller_v1_NoteDownloadsRequest,
  NoteDownloadsRequestInput as _harrier_controller_v1_NoteDownloadsRequestInput,
} from "../../../harrier/controller/v1/NoteDownloadsRequest.ts";
import type {
  NoteDownloadsResponse as _harrier_controller_v1_NoteDownloadsResponse,
  NoteDownloadsResponseInput as _harrier_controller_v1_NoteDownloadsResponseInput,
} from "../../../harrier/controller/v1/NoteDownloadsResponse.ts";
import type {
  OpenFenceRequest as _harrier_controller_v1_OpenFenceRequest,
  OpenFenceRequestInput as _harrier_controller_v1_OpenFenceRequestInput,
} from "../../../harrier/controller/v1/OpenFenceRequest.ts";
import type {
  OpenFenceResponse as _harrier_controller_v1_OpenFenceResponse,
  OpenFenceResponseInput as _harrier_controller_v1_OpenFenceResponseInput,
} from "../../../harrier/controller/v1/OpenFenceResponse.ts";
import type {
  ScheduleChunkRequest as _harrier_controller_v1_ScheduleChunkRequest,
  ScheduleChunkRequestInput as _harrier_controller_v1_ScheduleChunkRequestInput,
} from "../../../harrier/controller/v1/ScheduleChunkRequest.ts";
import type {
  ScheduleChunkResponse as _harrier_controller_v1_ScheduleChunkResponse,
  ScheduleChunkResponseInput as _harrier_controller_v1_ScheduleChunkResponseInput,
} from "../../../harrier/controller/v1/ScheduleChunkResponse.ts";
import type {
  StartChunkRequest as _harrier_controller_v1_StartChunkRequest,
  StartChunkRequestInput as _harrier_controller_v1_StartChunkRequestInput,
} from "../../../harrier/controller/v1/StartChunkRequest.ts";
import type {
  StartChunkResponse as _harrier_controller_v1_StartChunkResponse,
  StartChunkResponseInput as _harrier_controller_v1_StartChunkResponseInput,
} from "../../../harrier/controller/v1/StartChunkResponse.ts";
import type {
  StopChunkRequest as _harrier_controller_v1_StopChunkRequest,
  StopChunkRequestInput as _harrier_controller_v1_StopChunkRequestInput,
} from "../../../harrier/controller/v1/StopChunkRequest.ts";
import type {
  StopChunkResponse as _harrier_controller_v1_StopChunkResponse,
  StopChunkResponseInput as _harrier_controller_v1_StopChunkResponseInput,
} from "../../../harrier/controller/v1/StopChunkResponse.ts";

export interface ActionsServiceDefinition extends grpc.ServiceDefinition {
  AssignOffline: MethodDefinition<
    _harrier_controller_v1_AssignOfflineRequestInput,
    _harrier_controller_v1_AssignOfflineResponseInput,
    _harrier_controller_v1_AssignOfflineRequest,
    _harrier_controller_v1_AssignOfflineResponse
  >;
  AssignSet: MethodDefinition<
    _harrier_controller_v1_AssignSetRequestInput,
    _harrier_controller_v1_AssignSetResponseInput,
    _harrier_controller_v1_AssignSetRequest,
    _harrier_controller_v1_AssignSetResponse
  >;
  AssignSets: MethodDefinition<
    _harrier_controller_v1_AssignSetsRequestInput,
    _harrier_controller_v1_AssignSetsResponseInput,
    _harrier_controller_v1_AssignSetsRequest,
    _harrier_controller_v1_AssignSetsResponse
  >;
  AutoAssignChunk: MethodDefinition<
    _harrier_controller_v1_AutoAssignChunkRequestInput,
    _harrier_controller_v1_AutoAssignChunkResponseInput,
    _harrier_controller_v1_AutoAssignChunkRequest,
    _harrier_controller_v1_AutoAssignChunkResponse
  >;
  CancelAction: MethodDefinition<
    _harrier_controller_v1_CancelActionRequestInput,
    _harrier_controller_v1_CancelActionResponseInput,
    _harrier_controller_v1_CancelActionRequest,
    _harrier_controller_v1_CancelActionResponse
  >;
  CancelSetChunk: MethodDefinition<
    _harrier_controller_v1_CancelSetChunkRequestInput,
    _harrier_controller_v1_CancelSetChunkResponseInput,
    _harrier_controller_v1_CancelSetChunkRequest,
    _harrier_controller_v1_CancelSetChunkResponse
  >;
  CloseFence: MethodDefinition<
    _harrier_controller_v1_CloseFenceRequestInput,
    _harrier_controller_v1_CloseFenceResponseInput,
    _harrier_controller_v1_CloseFenceRequest,
    _harrier_controller_v1_CloseFenceResponse
  >;
  ConfirmAction: MethodDefinition<
    _harrier_controller_v1_ConfirmActionRequestInput,
    _harrier_controller_v1_ConfirmActionResponseInput,
    _harrier_controller_v1_ConfirmActionRequest,
    _harrier_controller_v1_ConfirmActionResponse
  >;
  DeleteActions: MethodDefinition<
    _harrier_controller_v1_DeleteActionsRequestInput,
    _harrier_controller_v1_DeleteActionsResponseInput,
    _harrier_controller_v1_DeleteActionsRequest,
    _harrier_controller_v1_DeleteActionsResponse
  >;
  ForceAction: MethodDefinition<
    _harrier_controller_v1_ForceActionRequestInput,
    _harrier_controller_v1_ForceActionResponseInput,
    _harrier_controller_v1_ForceActionRequest,
    _harrier_controller_v1_ForceActionResponse
  >;
  NoteDownloads: MethodDefinition<
    _harrier_controller_v1_NoteDownloadsRequestInput,
    _harrier_controller_v1_NoteDownloadsResponseInput,
    _harrier_controller_v1_NoteDownloadsRequest,
    _harrier_controller_v1_NoteDownloadsResponse
  >;
  OpenFence: MethodDefinition<
    _harrier_controller_v1_OpenFenceRequestInput,
    _harrier_controller_v1_OpenFenceResponseInput,
    _harrier_controller_v1_OpenFenceRequest,
    _harrier_controller_v1_OpenFenceResponse
  >;
  ScheduleChunk: MethodDefinition<
    _harrier_controller_v1_ScheduleChunkRequestInput,
    _harrier_controller_v1_ScheduleChunkResponseInput,
    _harrier_controller_v1_ScheduleChunkRequest,
    _harrier_controller_v1_ScheduleChunkResponse
  >;
  StartChunk: MethodDefinition<
    _harrier_controller_v1_StartChunkRequestInput,
    _harrier_controller_v1_StartChunkResponseInput,
    _harrier_controller_v1_StartChunkRequest,
    _harrier_controller_v1_StartChunkResponse
  >;
  StopChunk: MethodDefinition<
    _harrier_controller_v1_StopChunkRequestInput,
    _harrier_controller_v1_StopChunkResponseInput,
    _harrier_controller_v1_StopChunkRequest,
    _harrier_controller_v1_StopChunkResponse
  >;
}
