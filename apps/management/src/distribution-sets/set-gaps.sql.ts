import { statement } from "@harrier/db";
import type { SetGaps } from "@harrier/errors";

/** Says why a set is not complete; it is only read where the set is refused because of that. */
export const readSetGaps = statement<[tenantId: number, setId: number], SetGaps>(
  "management.read_set_gaps",
  `select missing_types as "missingTypes", unfilled_modules as "unfilledModules" from set_completeness_v1 where tenant_id = $1 and id = $2`,
);
