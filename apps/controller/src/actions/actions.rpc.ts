import type { Database, IdBlocks } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import { assignSet } from "./assign.ts";
import { cancelAction, forceAction } from "./change.ts";
import { createChunks } from "./chunks.ts";
import { noteDownloads } from "./note-downloads.ts";

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  fault: (name: string) => unknown;
  now: () => number;
}

/** harrier.controller.v1.ActionsService: the only writer of actions. */
export function actionsHandlers(deps: Deps): Handlers<"harrier.controller.v1.ActionsService"> {
  return {
    assignSet: (request, ctx) => assignSet(deps, request, ctx),
    cancelAction: (request, ctx) => cancelAction(deps, request, ctx),
    forceAction: (request, ctx) => forceAction(deps, request, ctx),
    noteDownloads: (request, ctx) => noteDownloads(deps, request, ctx),
    ...createChunks(deps),
  };
}
