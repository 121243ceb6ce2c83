// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

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
