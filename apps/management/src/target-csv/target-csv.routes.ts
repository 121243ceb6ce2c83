import { targetCsv } from "@harrier/contracts";
import { discardRest, type Mount, sendCsv, TenantLimiter } from "@harrier/service";
import type { TargetDeps } from "../targets/targets.ts";
import { csvOfTargets } from "./export-csv.ts";
import { importTargets } from "./import-csv.ts";

interface Deps extends Pick<TargetDeps, "db"> {
  targets: TargetDeps["targets"] & Parameters<typeof importTargets>[0]["targets"];
  now: () => number;
}

/**
 * So much of a refused file is read and thrown away, so that the client gets to read the error: many clients send everything first. It is
 * usually as much as half a million lines.
 */
const discardBudget = { bytes: 64 * 1024 * 1024, ms: 5_000 };

/** A tenant may have two imports at once in each replica, because each stores up to a million lines until it ends; one more is answered by 429. */
const importLimits = { perTenant: 2, total: Number.POSITIVE_INFINITY, waiting: 0 };

/** Serves the export and the import of targets as CSV (contract extensions.md). */
export function mountTargetCsv(mount: Mount, deps: Deps): void {
  mount(targetCsv.exportCsv, async (ctx) => {
    // The export has the tokens of the targets for users who may read them.
    await sendCsv(ctx, { name: "targets", noStore: true }, await csvOfTargets(deps, ctx, ctx.query.q));
  });

  const imports = new TenantLimiter(importLimits);
  mount(targetCsv.importCsv, async (ctx) => {
    const work = () => importTargets(deps, ctx, { file: ctx.req, onError: ctx.query.onError });
    try {
      return { body: await imports.limiterOf(ctx.tenantId).run(work) };
    } catch (error) {
      discardRest(ctx.req, discardBudget);
      throw error;
    }
  });
}
