import type { Database, IdBlocks } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { CallContext, Handlers } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { reserve } from "./reserve-set.ts";
import { attachArtifact, checkUpload } from "./uploads.ts";

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  fault: (point: FaultPoint) => void | Promise<void>;
}

/** Implements harrier.management.v1.CatalogueService, which is a leaf: it calls no other service (architecture §2). */
export function catalogueHandlers(deps: Deps): Handlers<"harrier.management.v1.CatalogueService"> {
  return {
    reserveSet: (request, ctx) => reserve(deps, ctx.principal, request.setId),
    checkUpload: (request, ctx) => checkUpload(deps, ctx.principal.tenantId, request),
    attachArtifact: (request, ctx) => {
      const { tenantId, kind } = ctx.principal;
      const { uploader, ...upload } = request;
      const subject = kind === "service" ? uploader : ctx.principal.subject;
      return attachArtifact(deps, { tenantId, subject, commandId: commandIdOf(ctx) }, upload);
    },
  };
}

function commandIdOf(ctx: CallContext): string {
  if (ctx.commandId === undefined) throw new HarrierError("internal", "a command without an id");
  return ctx.commandId;
}
