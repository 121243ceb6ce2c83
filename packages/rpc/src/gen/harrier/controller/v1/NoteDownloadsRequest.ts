// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type {
  NotedDownload as _harrier_controller_v1_NotedDownload,
  NotedDownloadInput as _harrier_controller_v1_NotedDownloadInput,
} from "../../../harrier/controller/v1/NotedDownload.ts";

export interface NoteDownloadsRequestInput {
  downloads?: _harrier_controller_v1_NotedDownloadInput[];
}

export interface NoteDownloadsRequest {
  downloads: _harrier_controller_v1_NotedDownload[];
}
