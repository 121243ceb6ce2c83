// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  AssignSetRequest as _harrier_controller_v1_AssignSetRequest,
  AssignSetRequestInput as _harrier_controller_v1_AssignSetRequestInput,
} from "../../../harrier/controller/v1/AssignSetRequest.ts";
import type {
  AssignSetResponse as _harrier_controller_v1_AssignSetResponse,
  AssignSetResponseInput as _harrier_controller_v1_AssignSetResponseInput,
} from "../../../harrier/controller/v1/AssignSetResponse.ts";
import type {
  CancelActionRequest as _harrier_controller_v1_CancelActionRequest,
  CancelActionRequestInput as _harrier_controller_v1_CancelActionRequestInput,
} from "../../../harrier/controller/v1/CancelActionRequest.ts";
import type {
  CancelActionResponse as _harrier_controller_v1_CancelActionResponse,
  CancelActionResponseInput as _harrier_controller_v1_CancelActionResponseInput,
} from "../../../harrier/controller/v1/CancelActionResponse.ts";
import type {
  CloseFenceRequest as _harrier_controller_v1_CloseFenceRequest,
  CloseFenceRequestInput as _harrier_controller_v1_CloseFenceRequestInput,
} from "../../../harrier/controller/v1/CloseFenceRequest.ts";
import type {
  CloseFenceResponse as _harrier_controller_v1_CloseFenceResponse,
  CloseFenceResponseInput as _harrier_controller_v1_CloseFenceResponseInput,
} from "../../../harrier/controller/v1/CloseFenceResponse.ts";
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

export interface ActionsServiceDefinition extends grpc.ServiceDefinition {
  AssignSet: MethodDefinition<
    _harrier_controller_v1_AssignSetRequestInput,
    _harrier_controller_v1_AssignSetResponseInput,
    _harrier_controller_v1_AssignSetRequest,
    _harrier_controller_v1_AssignSetResponse
  >;
  CancelAction: MethodDefinition<
    _harrier_controller_v1_CancelActionRequestInput,
    _harrier_controller_v1_CancelActionResponseInput,
    _harrier_controller_v1_CancelActionRequest,
    _harrier_controller_v1_CancelActionResponse
  >;
  CloseFence: MethodDefinition<
    _harrier_controller_v1_CloseFenceRequestInput,
    _harrier_controller_v1_CloseFenceResponseInput,
    _harrier_controller_v1_CloseFenceRequest,
    _harrier_controller_v1_CloseFenceResponse
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
}
