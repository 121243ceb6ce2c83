import { statement } from "@harrier/db";
import type { SetGaps } from "@harrier/errors";

/** Reads why a set is not complete; it is only needed to refuse such a set. */
export const readSetGaps = statement<[tenantId: number, setId: number], SetGaps>(
  "rollout_engine.read_set_gaps",
  `select missing_types as "missingTypes", unfilled_modules as "unfilledModules"
     from management.set_completeness_v1 where tenant_id = $1 and id = $2`,
);
