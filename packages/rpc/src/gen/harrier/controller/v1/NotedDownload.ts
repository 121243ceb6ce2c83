// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

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
