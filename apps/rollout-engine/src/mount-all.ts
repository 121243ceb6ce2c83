import { withConflicts } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { mountAutoAssignments } from "./auto-assignments/auto-assignments.routes.ts";
import { mountFailures } from "./failures/failures.routes.ts";
import type { AutoAssignDeps } from "./filters/auto-assign.ts";
import { mountFilters } from "./filters/filters.routes.ts";
import { mountGroups } from "./groups/groups.routes.ts";
import type { GroupDeps } from "./groups/read-groups.ts";
import { mountProgress } from "./progress/progress.routes.ts";
import { mountReports } from "./reports/reports.routes.ts";
import { mountRollouts, type RolloutDeps } from "./rollouts/rollouts.routes.ts";
import { mountTimelines } from "./timeline/timeline.routes.ts";

/** The routes need these parts; rollouts and filters wake different workers. */
export interface Parts {
  rollouts: RolloutDeps;
  groups: GroupDeps;
  filters: AutoAssignDeps;
}

/** Mounts every HTTP route of this service. What a constraint of the database refuses becomes a 400 or 409 of the caller. */
export function mountAll(register: Mount, { rollouts, groups, filters }: Parts): void {
  const mount: Mount = (route, handler) => register(route, (ctx) => withConflicts(async () => (await handler(ctx)) ?? undefined));
  mountRollouts(mount, rollouts);
  mountGroups(mount, groups);
  mountReports(mount, rollouts);
  mountTimelines(mount, rollouts);
  mountFailures(mount, rollouts);
  mountProgress(mount, rollouts);
  mountFilters(mount, filters);
  mountAutoAssignments(mount, filters);
}
