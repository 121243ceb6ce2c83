import { targetCsv } from "@harrier/contracts";
import { discardRest, type Mount, TenantLimiter } from "@harrier/service";
import type { TargetDeps } from "../targets/targets.ts";
import { csvOfTargets } from "./export-csv.ts";
import { importTargets } from "./import-csv.ts";

interface Deps extends Pick<TargetDeps, "db"> {
  targets: TargetDeps["targets"] & Parameters<typeof importTargets>[0]["targets"];
  now: () => number;
}

/**
 * What is read and thrown away of a file that was refused, so that the client gets to read why: many clients send everything first. As much as
 * half a million lines have as a rule.
 */
const discardBudget = { bytes: 64 * 1024 * 1024, ms: 5_000 };

/** Each keeps up to a million lines until it ends: of a tenant two at once in each replica, and one more is 429. */
const importLimits = { perTenant: 2, total: Number.POSITIVE_INFINITY, waiting: 0 };

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

  const imports = new TenantLimiter(importLimits);
  mount(targetCsv.importCsv, async (ctx) => {
    const work = () => importTargets(deps, ctx, { file: ctx.req, onError: ctx.query.onError });
    try {
      return { body: await imports.turnsOf(ctx.tenantId).run(work) };
    } catch (error) {
      discardRest(ctx.req, discardBudget);
      throw error;
    }
  });
}
