import { targetCsv } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import type { TargetDeps } from "../targets/targets.ts";
import { csvOfTargets } from "./export-csv.ts";
import { importTargets } from "./import-csv.ts";

interface Deps extends Pick<TargetDeps, "db"> {
  targets: TargetDeps["targets"] & Parameters<typeof importTargets>[0]["targets"];
  now: () => number;
}

/** Targets as CSV, in and out (contract extensions.md). */
export function mountTargetCsv(mount: Mount, deps: Deps): void {
  mount(targetCsv.exportCsv, async (ctx) => {
    const { req, res } = ctx;
    const send = await csvOfTargets(deps, ctx, ctx.query.q);
    res.writeHead(200, {
      "content-type": "text/csv;charset=UTF-8;header=present",
      // with the tokens of the targets, for those who may read them
      "cache-control": "no-store",
      "content-disposition": 'attachment; filename="targets.csv"',
    });
    if (req.method === "HEAD") res.end();
    else await send(res);
  });

  mount(targetCsv.importCsv, async (ctx) => ({ body: await importTargets(deps, ctx, { file: ctx.req, onError: ctx.query.onError }) }));
}
